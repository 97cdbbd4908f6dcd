"\a\b\t\n\\ \
   next" |a\x3bb;|