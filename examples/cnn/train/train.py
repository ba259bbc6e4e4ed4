#!/usr/bin/env python3
"""train: trains small_x2, a small network that doubles a photograph's width and height, and writes its two files.

    apt-get install lomiri-wallpapers-16.04 && pip install jax pillow
    train.py --out ../models/small_x2 --minutes 40 --seed 1     trains, writes, checks, prints PSNR against bicubic
    train.py --out ../models/small_x2 --check                   checks the files written before, prints the same

README.md, beside this, says what came of it. JAX runs on the CPU; neither a GPU nor anything else is downloaded.
"""

import argparse
import json
import pathlib
import time

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

import photographs

CHANNELS, BLOCKS = 32, 4
BATCH, CROP = 8, 48  # pictures of a step, and their side before the enlargement
PEAK, WARM_UP = 1e-3, 200  # Adam's highest rate, and the steps until then
LONG_SIDES = (2048, 1360, 1024, 768)  # each photograph is learnt at several sizes: the same things, finer and coarser

# The example's crop, out of the demonstration picture's ground truth halved: left, top, width and height. Not square,
# so that exchanged sides are seen; there, no result is so near to a half that float32 would round it to the other side.
EXAMPLE = (196, 123, 48, 32)


# --- The network -----------------------------------------------------------------------------------------------------


def convolutions():
    """(name, outputs, inputs) of each convolution; all are 3x3, so that all are Winograd's."""
    yield "head", CHANNELS, 3
    for block in range(1, BLOCKS + 1):
        yield f"b{block}_1", CHANNELS, CHANNELS
        yield f"b{block}_2", CHANNELS, CHANNELS
    yield "tail", 12, CHANNELS


def graph():
    """The topology as text. It only learns what the nearest pixel's repetition lacks, so it starts from that."""
    shape = {name: f"K={outputs} C={inputs} R=3 S=3 pad=1" for name, outputs, inputs in convolutions()}
    lines = [
        "# op name inputs... attrs ; image range [0,1] in and out, RGB, NCHW; all convs stride 1, zero pad, bias",
        "input in C=3 range=1",
        f"conv head in {shape['head']}",
        "relu head_relu head",
    ]
    last = "head_relu"
    for b in range(1, BLOCKS + 1):
        lines += [f"conv b{b}_1 {last} {shape[f'b{b}_1']}", f"relu b{b}_relu b{b}_1"]
        lines += [f"conv b{b}_2 b{b}_relu {shape[f'b{b}_2']}", f"add b{b} b{b}_2 {last}"]
        last = f"b{b}"
    lines += [f"conv tail {last} {shape['tail']}", "pixel_shuffle ps tail scale=2"]
    lines += ["upsample_nearest up in scale=2", "add out ps up", "output out"]
    return "\n".join(lines) + "\n"


def initial(rng):
    """He's weights; those that end a sum start near zero, which makes every block start as a copy of its input."""
    weights = {}
    for name, outputs, inputs in convolutions():
        scale = (2 / (9 * inputs)) ** 0.5 * (0.1 if name.endswith("_2") or name == "tail" else 1)
        weights[f"{name}.weight"] = (rng.standard_normal((3, 3, inputs, outputs)) * scale).astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(outputs, np.float32)
    return weights


def enlarged(weights, x):
    """The graph on x [N][H][W][3]. Channels last, and so weights [R][S][C][K], as that is faster here; the files have
    the other order."""

    def conv(name, x):
        layout = ("NHWC", "HWIO", "NHWC")
        y = jax.lax.conv_general_dilated(x, weights[f"{name}.weight"], (1, 1), "SAME", dimension_numbers=layout)
        return y + weights[f"{name}.bias"]

    y = jax.nn.relu(conv("head", x))
    for block in range(1, BLOCKS + 1):
        y = y + conv(f"b{block}_2", jax.nn.relu(conv(f"b{block}_1", y)))
    y = conv("tail", y)
    n, h, w, _ = y.shape
    shuffled = y.reshape(n, h, w, 3, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(n, 2 * h, 2 * w, 3)
    return shuffled + x.repeat(2, axis=1).repeat(2, axis=2)


def to_bytes(x):
    return np.clip(np.rint(np.asarray(x) * 255), 0, 255).astype(np.uint8)  # rint: halves go to the even neighbour


# --- Training --------------------------------------------------------------------------------------------------------


def pairs(images):
    """[(reduced photograph, its half)] of what is trained on, and how often to choose each: by its pixels."""
    found = []
    for name in photographs.TRAINED:
        image = photographs.read(pathlib.Path(images) / f"{name}.jpg")
        for long_side in LONG_SIDES:
            truth = photographs.reduced(image, long_side)
            found.append((np.asarray(truth), np.asarray(photographs.halved(truth))))
    pixels = np.array([small.shape[0] * small.shape[1] for _, small in found], np.float64) ** 0.5
    return found, pixels / pixels.sum()


def crop(rng, found, share):
    """A random crop and its half, turned and mirrored at random: one of eight ways, which bicubic reduction keeps."""
    truth, small = found[rng.choice(len(found), p=share)]
    y, x = rng.integers(small.shape[0] - CROP + 1), rng.integers(small.shape[1] - CROP + 1)
    small = small[y : y + CROP, x : x + CROP]
    truth = truth[2 * y : 2 * (y + CROP), 2 * x : 2 * (x + CROP)]
    turns, mirrored = rng.integers(4), rng.integers(2)
    truth, small = np.rot90(truth, turns), np.rot90(small, turns)
    return (truth[:, ::-1], small[:, ::-1]) if mirrored else (truth, small)


def batch(rng, found, share):
    """Of two crops each time the one with more detail: much of a photograph is sky, where there is nothing to learn."""
    chosen = []
    for _ in range(BATCH):
        two = [crop(rng, found, share) for _ in range(2)]
        chosen.append(max(two, key=lambda pair: np.abs(np.diff(pair[0][..., 1].astype(np.int16), axis=1)).sum()))
    return (jnp.asarray(np.stack(part), jnp.float32) / 255 for part in zip(*chosen, strict=True))


@jax.jit
def step(weights, first, second, truth, small, rate, t):
    """One of Adam's. L1 rather than L2: it is known to lead such networks to the better PSNR, too."""
    loss, slope = jax.value_and_grad(lambda w: jnp.mean(jnp.abs(enlarged(w, small) - truth)))(weights)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slope)
    scale = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    weights = jax.tree.map(lambda w, m, v: w - scale * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
    return weights, first, second, loss


def train(images, minutes, steps, seed):
    rng = np.random.default_rng(seed)
    found, share = pairs(images)
    weights = initial(rng)
    first = second = jax.tree.map(np.zeros_like, weights)
    start, t, losses = time.monotonic(), 0, []
    while (done := t / steps if steps else (time.monotonic() - start) / (60 * minutes)) < 1:
        t += 1
        rate = PEAK * min(1, t / WARM_UP) * (1 + np.cos(np.pi * done)) / 2
        weights, first, second, loss = step(weights, first, second, *batch(rng, found, share), rate, t)
        losses.append(float(loss))
        if t % 500 == 0:
            spent = (time.monotonic() - start) / 60
            print(f"step {t}, {spent:.1f} minutes: L1 {255 * np.mean(losses[-500:]):.3f} of 255", flush=True)
    print(f"{t} steps in {(time.monotonic() - start) / 60:.1f} minutes")
    return {name: np.asarray(w) for name, w in weights.items()}


# --- Files, and what is checked of them ------------------------------------------------------------------------------


def write(folder, weights):
    """graph.txt and weights.safetensors: the header's length, the header, the numbers; weights as [K][C][R][S]."""
    header, data = {}, b""
    for name, w in weights.items():
        w = np.ascontiguousarray(w.transpose(3, 2, 0, 1) if w.ndim == 4 else w, "<f4")
        header[name] = {"dtype": "F32", "shape": w.shape, "data_offsets": [len(data), len(data) + w.nbytes]}
        data += w.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the numbers start at a multiple of 8
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weights.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "graph.txt").write_text(graph())


def read(folder):
    raw = (folder / "weights.safetensors").read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    weights = {}
    for name, tensor in json.loads(raw[8:start]).items():
        begin, end = tensor["data_offsets"]
        weights[name] = np.frombuffer(raw[start + begin : start + end], "<f4").reshape(tensor["shape"])
    return (folder / "graph.txt").read_text(), weights


def evaluated(text, weights, x):
    """What a graph's text means, for x [3][H][W]: float64, the convolution's definition, nothing shared with JAX."""
    values = {}
    for line in text.splitlines():
        op, name, *rest = line.split("#")[0].split() or ("", "")
        inputs = [values[word] for word in rest if "=" not in word]
        attributes = dict(word.split("=") for word in rest if "=" in word)
        if op == "input":
            values[name] = x.astype(np.float64)
        elif op == "conv":
            kernel, pad = weights[f"{name}.weight"].astype(np.float64), int(attributes["pad"])
            (_, h, w), padded = inputs[0].shape, np.pad(inputs[0], ((0, 0), (pad, pad), (pad, pad)))
            values[name] = np.zeros((len(kernel), h, w)) + weights[f"{name}.bias"].astype(np.float64)[:, None, None]
            for r, s in np.ndindex(kernel.shape[2:]):
                values[name] += np.einsum("kc,chw->khw", kernel[:, :, r, s], padded[:, r : r + h, s : s + w])
        elif op == "relu":
            values[name] = np.maximum(inputs[0], 0)
        elif op == "add":
            values[name] = inputs[0] + inputs[1]
        elif op == "pixel_shuffle":
            (c, h, w), by = inputs[0].shape, int(attributes["scale"])
            split = inputs[0].reshape(c // by**2, by, by, h, w)
            values[name] = split.transpose(0, 3, 1, 4, 2).reshape(c // by**2, h * by, w * by)
        elif op == "upsample_nearest":
            by = int(attributes["scale"])
            values[name] = inputs[0].repeat(by, axis=1).repeat(by, axis=2)
        elif op == "output":
            return values[name]
    raise ValueError("a graph without output")


def check(folder, images, run):
    """The files, read again, against JAX, on the example's crop; writes what the C++ side is tested against."""
    text, weights = read(folder)
    left, top, width, height = EXAMPLE
    _, truth = next(photographs.held_out(images))
    image = photographs.halved(truth).crop((left, top, left + width, top + height))
    truth = truth.crop((2 * left, 2 * top, 2 * (left + width), 2 * (top + height)))
    x = np.asarray(image, np.float32) / np.float32(255)
    expected = evaluated(text, weights, x.transpose(2, 0, 1)).transpose(1, 2, 0)
    difference = np.abs(np.asarray(run(x[None]))[0] - expected).max() * 255
    tie = 0.5 - np.abs(expected * 255 - np.rint(expected * 255)).max()
    image.save(folder / "crop_in.png", optimize=True)
    truth.save(folder / "crop_gt.png", optimize=True)
    Image.fromarray(to_bytes(expected)).save(folder / "crop_out.png", optimize=True)
    np.save(folder / "crop_out.npy", expected.transpose(2, 0, 1).astype(np.float32))
    print(f"crop_in.png: {width} x {height} of {photographs.HELD_OUT[0]}'s half, from ({left}, {top})")
    print(f"float64 from the files: min {expected.min():.7f}, max {expected.max():.7f}, mean {expected.mean():.7f}")
    print(f"JAX differs by at most {difference:.1e} of 255; the nearest to a half is {tie:.1e} of 255 from it")
    if difference > 1e-3:
        raise SystemExit("train: the files written do not mean what was trained")


def report(images, others, run):
    """PSNR of the photographs held out, and of pairs of PNG files that were named."""
    rows = [(name, photographs.halved(truth), truth) for name, truth in photographs.held_out(images)]
    rows += [(small.stem, photographs.read(small), photographs.read(truth)) for small, truth in others]
    print("| picture | bicubic, dB | small_x2, dB | gain |\n|---|---|---|---|")
    for name, small, truth in rows:
        ours = to_bytes(run(np.asarray(small, np.float32)[None] / 255)[0])
        one, two = photographs.psnr(photographs.bicubic(small), truth), photographs.psnr(ours, truth)
        print(f"| {name} | {one:.2f} | {two:.2f} | {two - one:+.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default=photographs.IMAGES, help="the folder of the photographs (%(default)s)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder of the network's files")
    parser.add_argument("--minutes", type=float, default=40, help="how long to train (%(default)s)")
    parser.add_argument("--steps", type=int, help="train this many steps instead, however long they take")
    parser.add_argument("--seed", type=int, default=1, help="of the weights and the crops (%(default)s)")
    parser.add_argument("--check", action="store_true", help="do not train: check the files that are there")
    pair = {"nargs": 2, "action": "append", "default": [], "type": pathlib.Path, "metavar": ("SMALL", "TRUTH")}
    parser.add_argument("--pair", **pair, help="two PNG files to report the PSNR of, too")
    options = parser.parse_args()
    if not options.check:
        write(options.out, train(options.images, options.minutes, options.steps, options.seed))
    _, weights = read(options.out)
    weights = {name: w.transpose(2, 3, 1, 0) if w.ndim == 4 else w for name, w in weights.items()}
    run = jax.jit(lambda x: enlarged(weights, x))
    check(options.out, options.images, run)
    options.pair.insert(0, [options.out / "crop_in.png", options.out / "crop_gt.png"])
    report(options.images, options.pair, run)


if __name__ == "__main__":
    main()
