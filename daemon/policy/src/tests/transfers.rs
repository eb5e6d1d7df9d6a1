//! Programs that copy files from and to other machines.

use super::*;

#[test]
fn rule_for_a_copying_program_covers_no_destination_outside_the_workspace() {
    check(
        "allow Bash(rsync:*) / allow Bash(scp:*)",
        "allow | rsync -a a b
         allow | rsync -a ~/a b
         allow | rsync -a /etc/a .
         allow | rsync -a --partial a b
         allow | rsync -a a b --exclude c
         allow | rsync -a a h:/srv/x
         allow | rsync -a a rsync://h/x
         ask   | rsync -a a /etc/x
         ask   | rsync -a a ~/x
         ask   | rsync -a a ../x
         ask   | rsync -a a b/../../x
         ask   | rsync a /etc/x --exclude b
         ask   | rsync a /etc/x -f b --exclude c
         ask   | rsync a /etc/x -a
         ask   | rsync a -a /etc/h:x
         ask   | rsync -T /x a b
         ask   | rsync -aT /x a b
         ask   | rsync --partial-dir=/x a b
         ask   | rsync --partial-dir /x a b
         ask   | rsync --temp-dir=/x a b
         ask   | rsync --partial-d /x a b
         ask   | rsync --rs=x a h:
         ask   | rsync --only-write-b=x a b
         ask   | rsync -e x a b
         allow | scp h:a .
         allow | scp -r h:a b/c
         allow | scp a h:/x
         ask   | scp h:a /etc/x
         ask   | scp h:a ~/x
         ask   | scp h:a ../x",
    );
}

#[test]
fn options_of_curl_that_read_or_write_files_are_not_covered() {
    check(
        "allow Bash(curl:*)",
        "allow | curl https://h/x
         allow | curl -sSfL --proto '=https' --tlsv1.2 https://h
         allow | curl --url https://h --ssl
         allow | curl -H 'Accept: x' https://h
         allow | curl -X POST https://h
         ask   | curl -x h https://h
         ask   | curl -sx h https://h
         ask   | curl --socks5 h https://h
         ask   | curl -n https://h
         ask   | curl --netrc https://h
         ask   | curl --netrc-optional https://h
         ask   | curl --netrc-o https://h
         ask   | curl -H @f https://h
         ask   | curl -H@f https://h
         ask   | curl -sH @f https://h
         ask   | curl --header=@f https://h
         ask   | curl --proxy-header @f https://h
         ask   | curl --variable x@f https://h
         ask   | curl --url-query @f https://h
         ask   | curl --url-q x@f https://h
         ask   | curl --proto-default file /etc/passwd
         ask   | curl --proto-d file /etc/passwd
         ask   | curl --ssl-sessions f https://h
         ask   | curl --ssl-sess f https://h
         ask   | curl --expand-output f https://h
         ask   | curl FILE:///etc/passwd
         ask   | curl -o f https://h",
    );
}

#[test]
fn rule_for_a_program_covers_no_option_that_loads_code_or_writes_a_file() {
    check(
        "allow Bash(docker:*) / allow Bash(pandoc:*) / allow Bash(exiftool:*) / allow Bash(gradle:*) / allow Bash(gh:*) / \
         allow Bash(split:*) / allow Bash(zip:*) / allow Bash(protoc:*) / allow Bash(tsc:*) / allow Bash(kubectl:*) / \
         allow Bash(gcc:*) / allow Bash(mvn:*) / allow Bash(cargo:*)",
        "allow | docker ps
         allow | docker container ls
         allow | docker image ls
         ask   | docker container exec c sh
         ask   | docker container run x
         ask   | docker container cp c:/x y
         ask   | docker image build .
         ask   | docker builder build .
         allow | pandoc -t html f.md
         ask   | pandoc -L ./x.lua f.md
         ask   | pandoc -t ./x.lua f.md
         ask   | pandoc -d x.yaml
         ask   | pandoc --extract-media=x f.docx
         allow | exiftool f.jpg
         ask   | exiftool -p 'x' f.jpg
         ask   | exiftool -api Filter=x f.jpg
         ask   | exiftool -w /x/%f.txt f.jpg
         ask   | exiftool -filename=/x/y f.jpg
         allow | gradle test
         ask   | gradle -g ./x test
         ask   | gradle --system-prop=a=b test
         allow | gh pr list
         ask   | gh extensions install o/r
         ask   | gh cs ssh
         ask   | gh mine
         ask   | gh repo clone o/r -- --upload-pack=./x
         allow | split f part-
         ask   | split f ../p
         ask   | zip ../p f
         allow | protoc --go_out=. a.proto
         ask   | protoc --go_out=/x a.proto
         ask   | protoc --go_out=plugins=grpc:../x a.proto
         ask   | protoc --descriptor_set_out=p a.proto
         ask   | protoc @args
         ask   | tsc --out x
         ask   | tsc @x
         allow | kubectl get pods
         ask   | kubectl attach p
         ask   | kubectl mine
         ask   | kubectl get p --profile-output=x
         ask   | gcc -MF ../x -M f.c
         ask   | gcc -dumpdir /x/ -c f.c
         ask   | gcc -M -MFx f.c
         ask   | gcc -time=x -c f.c
         allow | gcc -DFIX=1 -c f.c
         allow | docker stop web && docker rm web
         ask   | zip -lf x z f
         ask   | mvn -gt ./x test
         allow | cargo nextest run
         ask   | cargo nextest run --config-file x
         ask   | cargo llvm-cov --output-path x",
    );
}

#[test]
fn rule_for_a_test_runner_or_checker_covers_no_option_that_loads_code_or_writes_a_file() {
    check(
        "allow Bash(jest:*) / allow Bash(vitest:*) / allow Bash(mocha:*) / allow Bash(mypy:*) / allow Bash(pytest:*) / \
         allow Bash(go test:*)",
        "allow | jest --env=jsdom --coverage
         allow | jest --env node
         ask   | jest --env ./x.js
         ask   | jest --env=./x.js
         ask   | jest --global-setup ./x.js
         ask   | jest --testRunner=./x.js
         ask   | jest --globalTeardown=./x.js
         ask   | jest --testSequencer ./x.js
         ask   | jest --filter=./x.js
         ask   | jest --preset=./x
         ask   | jest --cacheDirectory=/x
         allow | vitest run --pool=threads
         ask   | vitest --pool=./x.js
         ask   | vitest --execArgv=--require=./x.js
         ask   | vitest --outputFile.json=/x
         ask   | vitest --coverage.reportsDirectory=/x
         allow | mocha test/a.js
         allow | mocha -R spec
         ask   | mocha --package x.json
         ask   | pytest --config-file=x
         ask   | mocha -R ./x.js
         ask   | mocha --ui ./x.js
         ask   | mocha -n require=./x.js
         ask   | mocha -O output=/x
         allow | mypy src
         ask   | mypy --txt-report /x src
         ask   | mypy --any-exprs-report=/x src
         ask   | mypy @x
         allow | pytest -x tests
         ask   | pytest --tx popen//python=./x -d
         ask   | pytest --json-report-file=/x
         ask   | pytest @args
         allow | go test ./...
         ask   | go test -args -test.gocoverdir=/x",
    );
}

#[test]
fn rule_for_a_group_of_subcommands_names_none_of_them() {
    check(
        "allow Bash(docker container:*) / allow Bash(docker image build:*)",
        "allow | docker container ls
         ask   | docker container cp web:/a /etc/x
         allow | docker image build .",
    );
}
