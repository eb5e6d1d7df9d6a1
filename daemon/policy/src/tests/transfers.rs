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
