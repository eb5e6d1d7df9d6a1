#!/bin/sh
# Tests median.sh.
failed=0
check() {
    want=$1
    shift
    got=$(sh ./median.sh "$@")
    if [ "$got" = "$want" ]; then
        echo "ok      median of $* is $got"
    else
        echo "FAILED  median of $* is $got, should be $want"
        failed=1
    fi
}
check 2 3 1 2
check 7 7
check 9 10 9 2
check 20 100 20 3
exit $failed
