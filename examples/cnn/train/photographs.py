#!/usr/bin/env python3
"""photographs: the pictures that small_x2 was trained on and those held out, read and halved in the one way.

    apt-get install lomiri-wallpapers-16.04
    photographs.py --out pairs      writes NAME_lr.png and NAME_gt.png of each photograph held out

Needs Pillow and numpy (Debian: python3-pil python3-numpy).
"""

import argparse
import pathlib

import numpy as np
from PIL import Image

IMAGES = "/usr/share/backgrounds"  # where Debian's lomiri-wallpapers-16.04 puts them

# Of its 15 pictures, umang_by_Abhishek_Mudgal is left out: a computed gradient, not a photograph.
TRAINED = (
    "Bridge_by_Sander_Klootwijk",
    "Dragonfly_by_Bolly",
    "Picture_0B_by_freespace",
    "Wine_by_Jakkub_Mede",
    "aitzgorri_by_Aitzol_Berasategi",
    "analogpattern_by_Peter_Nerlich",
    "free_by_Peter_Nerlich",
    "greentock_by_Peter_Nerlich",
    "life_by_Aitzol_Berasategi",
    "sunset_by_Aitzol_Berasategi",
)
# The first is the one for demonstrations: it is CC0, so crops and enlargements of it may be put anywhere.
HELD_OUT = (
    "seeding_by_Clements_Engelhardt",
    "Picture_1A_by_freespace",
    "friends_by_Aitzol_Berasategi",
    "picosdeeuropa_by_Aitzol_Berasategi",
)
LONG_SIDE = 1024  # of a held-out photograph's reduced original, the ground truth


def reduced(image, long_side):
    """The photograph with that long side, its sides even. Reducing also thins out JPEG's blocks and the sensor's noise,
    which a network would learn to draw otherwise."""
    scale = long_side / max(image.size)
    size = [round(side * scale) for side in image.size]
    image = image.resize(size, Image.LANCZOS)
    return image.crop((0, 0, size[0] // 2 * 2, size[1] // 2 * 2))


def halved(image):
    """What the network is to undo: Pillow's bicubic reduction, which widens its kernel and so does not alias."""
    return image.resize((image.width // 2, image.height // 2), Image.BICUBIC)


def bicubic(image):
    """What the network has to beat."""
    return image.resize((image.width * 2, image.height * 2), Image.BICUBIC)


def read(path):
    return Image.open(path).convert("RGB")


def held_out(images):
    """(name, ground truth) of each photograph held out."""
    for name in HELD_OUT:
        yield name, reduced(read(pathlib.Path(images) / f"{name}.jpg"), LONG_SIDE)


def psnr(image, truth, border=8):
    """Decibels over all three channels, a border left out, where the two know least about what is outside."""
    inner = slice(border, -border)
    difference = np.asarray(image, np.float64)[inner, inner] - np.asarray(truth, np.float64)[inner, inner]
    return 10 * np.log10(255**2 / np.mean(difference**2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default=IMAGES, help="the folder of the photographs (%(default)s)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder that the pairs are written to")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, truth in held_out(options.images):
        small = halved(truth)
        small.save(options.out / f"{name}_lr.png")
        truth.save(options.out / f"{name}_gt.png")
        print(f"{name}: {small.width} x {small.height}, bicubic {psnr(bicubic(small), truth):.2f} dB")


if __name__ == "__main__":
    main()
