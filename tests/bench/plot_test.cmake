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
run(${RICCI} bench fem --bp 1 --orders 1..3 --form E --bytes 100KB --peers unfused --repeat 2 --json ${FOLDER}/fem.json)
foreach(arguments IN ITEMS "rate;fem.json;--unit;dof;--peer;unfused;--out;fem.png" "rate;fem.json;--out;fem.pdf"
        "rate;cache.json;--out;cache.png" "rate;cache.json;--unit;gb;--out;cache.pdf"
        "rate;sizes.json;--out;rate.png" "rate;sizes.json;--unit;gb;--types;f64;--out;rate.pdf"
        "speedup;sizes.json;--peer;plain;--out;speedup.png" "batch;counts.json;--unit;percent;--out;batch.png")
  string(REGEX REPLACE "([a-z]+\\.[a-z]+)" "${FOLDER}/\\1" arguments "${arguments}")
  list(GET arguments -1 picture)
  file(REMOVE ${picture})
  run(${PYTHON} ${SOURCE}/bench/plot.py ${arguments})
  file(SIZE ${picture} bytes)
  if(bytes LESS 1000)
    message(FATAL_ERROR "${picture} has ${bytes} bytes")
  endif()
endforeach()
# A mistake is one line.
execute_process(COMMAND ${PYTHON} ${SOURCE}/bench/plot.py speedup ${FOLDER}/sizes.json --peer nobody --out
                ${FOLDER}/none.png
                RESULT_VARIABLE code ERROR_VARIABLE output)
if(NOT code EQUAL 1 OR NOT output STREQUAL "plot: no row has a time of nobody\n")
  message(FATAL_ERROR "a peer that is not there: ${code}: ${output}")
endif()
