# Says whether a year is a leap year: sh leap.sh YEAR
if [ $(($1 % 4)) -eq 0 ]; then
  echo leap
else
  echo common
fi
