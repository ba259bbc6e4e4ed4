# ricci_headers: the public headers as users get them. The sources include each other from the repository's root,
# "dsl/index.hpp"; on a user's include path such folders would hide, or be hidden by, the user's own. So users get
# copies that say "ricci/dsl/index.hpp".

# Makes OUTPUT/ricci of SOURCE/ricci.hpp, SOURCE/ricci.h and SOURCE/<folder>/*.hpp. A file that stays the same is not
# touched.
function(ricci_copy_headers source output folders)
  list(TRANSFORM folders APPEND "/*.hpp" OUTPUT_VARIABLE patterns)
  list(TRANSFORM patterns PREPEND "${source}/")
  file(GLOB headers RELATIVE "${source}" "${source}/ricci.hpp" "${source}/ricci.h" ${patterns})
  list(FILTER headers EXCLUDE REGEX "/(cuda_|nvrtc_|cublas)[^/]*$") # these need CUDA's headers
  file(GLOB_RECURSE old RELATIVE "${output}/ricci" "${output}/ricci/*")
  list(REMOVE_ITEM old ${headers}) # what is left has no source any more
  foreach(header IN LISTS old)
    file(REMOVE "${output}/ricci/${header}")
  endforeach()
  list(JOIN folders "|" any_folder)
  foreach(header IN LISTS headers)
    file(READ "${source}/${header}" text)
    string(REGEX REPLACE "#include \"(${any_folder})/" "#include \"ricci/\\1/" text "${text}")
    file(WRITE "${output}/header" "${text}")
    get_filename_component(folder "${output}/ricci/${header}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    file(COPY_FILE "${output}/header" "${output}/ricci/${header}" ONLY_IF_DIFFERENT)
  endforeach()
  file(REMOVE "${output}/header")
endfunction()
