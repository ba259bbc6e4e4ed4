# plot_test: `ricci bench --json`, and bench/plot.py on what it wrote; skipped where there is no matplotlib.
# Needs RICCI (the command), PYTHON, SOURCE (the repository) and FOLDER (to write to).
execute_process(COMMAND ${PYTHON} -c "import matplotlib" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message("skipped: no matplotlib")
  return()
endif()
file(MAKE_DIRECTORY ${FOLDER})
set(ENV{RICCI_DEVICE} cpu)
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(code)
    message(FATAL_ERROR "${ARGV}: ${code}\n${output}")
  endif()
endfunction()
run(${RICCI} bench batched --sizes 2..5 --types f64,f32 --bytes 200KB --peers plain --repeat 2 --json ${FOLDER}/sizes.json)
run(${RICCI} bench batched --sizes 3,4 --batch 10,100 --peers plain --repeat 2 --json ${FOLDER}/counts.json)
run(${RICCI} bench batched --sizes 2..4 --in-cache --peers plain --repeat 2 --json ${FOLDER}/cache.json)
run(${RICCI} bench tall-skinny --kind ab --height 500,1000 --widths 2..4 --peers plain --repeat 2 --json
    ${FOLDER}/tall.json)
run(${RICCI} bench batched --sample 60 --sizes 1..3 --bytes 200KB --peers none --repeat 1 --json ${FOLDER}/sample.json)
run(${RICCI} bench fem --bp 1 --orders 1..3 --form E --bytes 100KB --peers unfused --repeat 2 --json ${FOLDER}/fem.json)
run(${RICCI} bench conv --layers 2x3x5,3x2x4 --algorithms direct,f2,f4 --peers direct --warm-cache --repeat 2 --json
    ${FOLDER}/conv.json)
run(${RICCI} bench factor --routines lu,lu_solve --sizes 2,3 --rhs 1,4 --batch 200 --peers none --warm-cache --repeat 2
    --json ${FOLDER}/factor.json)
foreach(arguments IN ITEMS "rate;factor.json;--out;factor.svg" "rate;conv.json;--out;conv.svg" "speedup;conv.json;--out;speedup.svg"
        "batch;conv.json;--out;batch.svg" "rate;fem.json;--unit;dof;--peer;unfused;--out;fem.png" "rate;fem.json;--out;fem.pdf"
        "rate;cache.json;--out;cache.png" "rate;cache.json;--unit;gb;--out;cache.pdf"
        "rate;sizes.json;--out;rate.png" "rate;sizes.json;--unit;gb;--types;f64;--out;rate.pdf"
        "speedup;sizes.json;--out;speedup.png" "speedup;counts.json;--out;counts.svg" "rate;tall.json;--out;tall.svg"
        "rate;sample.json;--out;sample.svg" "rate;sizes.json;cache.json;--out;files.svg" "batch;counts.json;--unit;percent;--out;batch.png")
  string(REGEX REPLACE "([a-z]+\\.[a-z]+)" "${FOLDER}/\\1" arguments "${arguments}")
  list(GET arguments -1 picture)
  file(REMOVE ${picture})
  run(${PYTHON} ${SOURCE}/bench/plot.py ${arguments})
  file(SIZE ${picture} bytes)
  if(bytes LESS 1000)
    message(FATAL_ERROR "${picture} has ${bytes} bytes")
  endif()
endforeach()
# What differs has lines of its own; matplotlib says in a comment what it draws as curves.
function(has picture)
  file(READ ${FOLDER}/${picture} text)
  foreach(name IN LISTS ARGN)
    if(NOT text MATCHES "<!-- ${name} -->")
      message(FATAL_ERROR "${picture} has no line \"${name}\"")
    endif()
  endforeach()
endfunction()
has(counts.svg "f64 batch 10" "f64 batch 100" "time of plain / time of ricci")
has(tall.svg "f64 height 500" "f64 height 1000" "f64 height 500, plain")
has(sample.svg "f64") # one cloud of points
has(conv.svg "2x3@5" "3x2@4" "f32 f2" "f32 f4, direct" "roofline")
has(factor.svg "f64 lu" "f64 lu_solve rhs 1" "f64 lu_solve rhs 4")
has(speedup.svg "2x3@5" "3x2@4" "f32 f2" "f32 f4" "time of direct / time of ricci")
has(files.svg "f64 sizes" "f64 cache" "f32 sizes")

# A mistake is one line, and leaves no picture.
function(refused code message)
  execute_process(COMMAND ${PYTHON} ${SOURCE}/bench/plot.py ${ARGN} RESULT_VARIABLE found ERROR_VARIABLE output
                  WORKING_DIRECTORY ${FOLDER})
  if(NOT found EQUAL code OR NOT output STREQUAL "plot: ${message}\n")
    message(FATAL_ERROR "plot.py ${ARGN}: ${found}: ${output}")
  endif()
  if(EXISTS ${FOLDER}/none.png)
    message(FATAL_ERROR "plot.py ${ARGN}: wrote a picture")
  endif()
endfunction()
run(${RICCI} bench batched --sizes 2 --batch 9 --peers none --repeat 1 --csv ${FOLDER}/rows.csv --json
    ${FOLDER}/alone.json)
run(${RICCI} tune --sizes 2 --device cpu --bytes 10KB --most 2 --json ${FOLDER}/tuned.json)
file(WRITE ${FOLDER}/empty.json "")
refused(1 "no row has a time of nobody; there are plain" speedup sizes.json --peer nobody --out none.png)
refused(1 "no row has a time of a peer" speedup alone.json --out none.png)
refused(1 "nothing.json cannot be read: No such file or directory" rate nothing.json --out none.png)
foreach(file IN ITEMS empty.json rows.csv tuned.json)
  refused(1 "${file} is no report that `ricci bench --json` wrote" rate ${file} --out none.png)
endforeach()
refused(1 "--out none.jpeg2: a picture is .png, .pdf or .svg" rate sizes.json --out none.jpeg2)
refused(2 "nowhere/none.png cannot be written: No such file or directory" rate sizes.json --out nowhere/none.png)
refused(1 "layers and other points do not go into one figure" rate conv.json sizes.json --out none.png)
refused(1 "--unit dof is for what `ricci bench fem` wrote" rate sizes.json --unit dof --out none.png)
refused(1 "the following arguments are required: --out" rate sizes.json)
