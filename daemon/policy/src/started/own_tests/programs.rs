//! Programs that are given files, commands or code.

use std::time::{Duration, Instant};

use super::{FILES, all_own, none_own, own_program};

#[test]
fn command_that_git_is_given_is_looked_into() {
    all_own(
        r#"
        git bisect run ./x
        git bisect run sh -c './x'
        git bisect run make
        git -C a bisect run ./x
        git bisect run "$x"
        git rebase -x ./x main
        git rebase -x './x a' main
        git rebase -ix 'make test' main
        git rebase --exec='cd a && ../x' main
        git rebase --exec make main
        git submodule foreach ./x
        git submodule --quiet foreach --recursive './x; true'
        git submodule foreach make
        git submodule foreach "$x"
        git grep -O./x foo
        git grep --open-files-in-pager=./x foo
        git grep --open-files-in-pager=make foo
        git difftool -x ./x
        git difftool -y --extcmd=./x
        git difftool -x 'sh x.sh'
        git clone -u ./x /srv/r
        git clone --upload-pack ./x /srv/r
        git clone -c core.fsmonitor=./x https://h/r
        git clone --template=a https://h/r
        git clone 'ext::./x' r
        git fetch --upload-pack ./x
        git fetch --upload-pack=make origin
        git push --receive-pack=./x origin
        git ls-remote --upload-pack=./x origin
        git -c core.pager=./x log
        git -c core.pager='make x' log
        git -c alias.y=!./x y
        git -c 'alias.y=!make' y
        X=./x git --config-env=core.pager=X log
        git filter-branch --tree-filter ./x
        git filter-branch --env-filter 'make' HEAD
        git send-email --sendmail-cmd=./x p
        git --exec-path=a status
        git rebase -rx make main
        git rebase --ex make main
        git -p -c core.pager=make log
        git grep -nO./x foo
        git clone --upl=./x /srv/r
        git submodule foreach --recursive -- make
        git submodule foreach 'cd a; ../x'
        git bisect run git bisect run git bisect run ./x
        "#,
        FILES,
    );
    none_own(
        r#"
        git push
        git push -u origin main
        git push --force-with-lease origin HEAD
        git fetch
        git fetch --all --prune
        git pull --rebase
        git clone https://h/r
        git clone -b main --depth 1 https://h/r /srv/r
        git switch -c x
        git clean -xn
        git grep foo
        git grep -n foo -- a
        git difftool
        git rebase main
        git rebase -i main
        git bisect start HEAD v1
        git bisect good
        git submodule update --init
        git submodule foreach git pull
        git submodule foreach 'git status --short'
        git rebase -x 'git status' main
        git -c color.ui=always log
        git -c user.name='A B' commit -m x
        git -c core.pager=less log
        git -C a status
        git commit -am x
        git tag -s v1 -m x
        git remote -v
        git ls-remote origin
        git worktree add /srv/w
        "#,
        FILES,
    );
}

#[test]
fn programs_in_options_and_arguments_are_found() {
    all_own(
        r#"
        ssh -o ProxyCommand=./x h
        ssh -o ProxyCommand='make x' h
        ssh -oProxyCommand='sh x.sh' h
        ssh -o 'ProxyCommand ./x' h
        scp -o ProxyCommand=./x a h:
        rsync -e ./x a h:
        rsync -avze 'sh x.sh' a h:
        rsync --rsh='make' a h:
        rsync --rsync-path=./x a b
        tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=./x a
        tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='make' a
        tar -I ./x -xf b
        tar -I 'sh x.sh' -xf b
        tar --to-command=make -xf b
        tar cIf ./x b a
        find . -exec ./x {} +
        find a -execdir ../x ;
        find . -exec sh x.sh \;
        find . -exec make \;
        ls | xargs ./x
        ls | xargs -n1 -P4 ./x
        ls | xargs make -C a
        env ./x
        env -u A B=c ./x
        timeout 5 ./x
        timeout -k 1 5 make
        nice ./x
        nice -n 5 ./x
        setsid -w ./x
        watch ./x
        watch -n1 'cd a; ../x'
        time ./x
        time -p make
        sudo ./x
        sudo -u u ./x
        sudo -E make install
        su -c ./x
        su u -c 'cd a; ../x'
        script -c ./x /dev/null
        script -qec make /dev/null
        ls | parallel ./x
        parallel make ::: a
        ls | entr ./x
        ls | entr -r make
        nohup ./x &
        flock /tmp/l ./x
        stdbuf -o0 ./x
        strace -f ./x
        tmux new -d ./x
        tmux new-session -d 'make x'
        tmux send-keys -t a 'sh x.sh' Enter
        tmux send-keys make Enter
        screen -dm ./x
        at -f x now
        crontab x
        batch <x
        split --filter='./x' b
        sort --compress-program=./x b
        zip -TT ./x o.zip b
        wget --use-askpass=./x https://h
        tcpdump -z ./x
        gcc -fplugin=./x.so b.c
        gcc -wrapper ./x b.c
        foo --exec ./x
        foo --pager=./x
        foo --command 'make x'
        foo --plugin x.so
        xvfb-run make
        perf record make
        valgrind sh x.sh
        valgrind sh "$x"
        xvfb-run valgrind make
        apt-get install ./x
        apt-get -o APT::Update::Pre-Invoke::=./x update
        brew install ./x
        gh extension install .
        openssl req -engine ./x
        awk '{print|"make"}' f
        awk 'BEGIN { f = "system"; @f("make") }'
        "#,
        FILES,
    );
    none_own(
        r#"
        curl https://h/x
        curl -fsSL -o x https://h/x
        curl -X POST -d @x https://h
        wget https://h/x
        gh pr list
        gh pr create --title x --body y
        gh run view 1 --log
        gh api repos/o/r --jq .x
        glab mr list
        apt-get install x
        apt-get install -y x
        sudo apt-get install x
        sudo apt-get update && sudo apt-get install -y x
        brew install x
        ssh h uptime
        ssh -o StrictHostKeyChecking=no h uptime
        ssh -i ~/.ssh/k -p 22 h ls
        scp x h:
        rsync -avz a h:
        rsync -e 'ssh -p 22' -a a h:
        tar -czf /tmp/o.tgz a
        tar -xzf x -C a
        find . -name x -delete
        find . -type f -exec chmod 644 {} +
        ls | xargs -n1 wc -l
        timeout 5 curl https://h
        systemctl status x
        snap install go
        ip addr
        nc "$h" 80
        cd a; cd b; snap install a b c
        openssl x509 -in x -text
        journalctl -u x -f
        aws s3 ls
        gcloud auth list
        ps aux
        kill 1
        ping -c1 h
        nc -z h 80
        cp x /srv/x
        ln -s x /srv/y
        rm -rf build
        gcc -O2 -o x x.c
        "#,
        FILES,
    );
}

#[test]
fn commands_in_the_code_of_editors_pagers_and_databases_are_found() {
    all_own(
        r#"
        vim -c '!./x' f
        vim -c '!make' f
        vim -c ':!make' -c q f
        vim '+!./x' f
        vim '+call system("./x")' f
        vim --cmd 'source x' f
        vim -S x
        vim -u x f
        nvim --headless -c 'luafile x' -c q
        nvim --headless -c 'make' -c q
        ex -sc '!./x' f
        LESSOPEN='|./x %s' less f
        less '+!./x' f
        less '+!make' f
        man -P ./x ls
        man -P 'make' ls
        man --pager=./x ls
        psql -c '\! ./x'
        psql -c '\! make'
        psql -c '\i x' d

        psql d -c "$x"
        sqlite3 d '.shell ./x'
        sqlite3 d '.system make'
        sqlite3 d '.read x'
        sqlite3 d "select load_extension('./x.so')"
        sqlite3 -cmd '.shell make' d
        sqlite3 d <x
        psql <<<"$x"
        psql <<<'\! make'
        cat x | psql
        cat x | sqlite3 d
        mysql -e '\! make'
        mysql <x
        awk 'BEGIN { system("./x") }'
        awk 'BEGIN { system("make") }'
        awk '{ print | "./x" }' f
        awk 'BEGIN { "./x" | getline a }'
        awk -e 'BEGIN { system("make") }'
        gawk '@load "./x"' f
        sed '1e ./x' f
        sed e f
        sed -n 's/a/make/e' f
        sed -e 's/a/b/' -e 's/x/make/ge' f
        sed '2e make' f
        sed "$x" f
        sed "$(cat x)" f
        gdb -batch -ex 'shell ./x' -p 1
        gdb -batch -ex '!make' -p 1
        gdb -ex 'source x' -p 1
        emacs --batch --eval '(shell-command "make")'
        emacs --batch --eval '(load "./x")'
        ed f <x
        "#,
        FILES,
    );
    none_own(
        r#"
        vim f
        vim -c q f
        vim +12 f
        vim -es -c '%s/a/b/' -c wq f
        less f
        less +F f
        man ls
        man -P less ls
        psql -c 'select 1'
        psql d -c '\dt'
        psql -h h -U u d
        sqlite3 d 'select 1'
        sqlite3 d .tables
        mysql -e 'select 1' d
        awk '{ print $1 }' f
        awk -F: '$1 == "a" { print $2 }' f
        sed s/a/b/ f
        sed -i 's/here/there/g' f
        sed -n '1,/e/p' f
        sed -e 's/e/f/' -e '/e/d' f
        sed 's/a/e/;s,e,b,' f
        sed "s/$a/$b/" f
        sed ':a;N;$!ba;s/\n/ /g' f
        sed -e '1i there' -e 'w out' f
        awk '/a|b/ || $1 ~ "x|y" { print $2/2 }' f
        gdb -batch -ex bt -p 1
        "#,
        FILES,
    );
}

#[test]
fn nested_lines_are_looked_into_up_to_a_bound() {
    let started = Instant::now();
    for line in [
        "git bisect run ".repeat(600),
        format!("git rebase {}", "-x ./y ".repeat(1400)),
        format!(
            "{}git rebase {}",
            "cd a; ".repeat(15),
            "-x 'git rebase -x y' ".repeat(400)
        ),
        "valgrind ".repeat(1000),
        format!("tmux new {}", "tmux new ".repeat(1000)),
    ] {
        assert!(own_program(&line, &["a"]).is_some(), "{line}");
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}
