# Compares leap.sh with the calendar.
failed=0
check() {
  found=$(sh leap.sh "$1")
  if [ "$found" != "$2" ]; then
    echo "$1: expected $2, found $found"
    failed=1
  fi
}
check 2023 common
check 2024 leap
check 1900 common
check 2000 leap
[ $failed -eq 0 ] && echo "4 years are right"
exit $failed
