//! Programs that run what a project's files say.

use super::{FEW_FILES, FILES, all_own, none_own};

#[test]
fn files_that_a_build_obeys_are_found_wherever_they_are() {
    all_own(
        r#"
        cmake ..
        cmake .
        cmake build
        cmake -S . -B /srv/b
        cmake -B build
        cmake --build build
        cmake --build .
        cmake --install build
        cmake -P x.mk
        cmake -C x.mk /srv/s
        cmake -E env ./x
        make
        make -C a
        make -C a -C b
        make -Ca -Cb
        make -kC a
        make --dir=a
        make --fil x.mk
        make -C /srv/s M="$PWD"
        env -C a make
        pushd a; make
        MAKEFLAGS=--eval='$(shell ./x)' make -C /srv/s
        MAKEFLAGS='-I a' make -C /srv/s
        MAKEFILES=x.mk make -C /srv/s
        make -f - <x.mk
        make -f- <x.mk
        make -f /dev/stdin <x.mk
        cat x.mk | make -f -
        make -f "$x"
        make -f *.mk
        make -C /srv/s --eval='$(shell ./x)'
        make -C /srv/s CC=./x
        ninja
        ninja -f x.mk
        just
        just x
        task
        task x
        rake
        bundle
        bundle install
        bundle exec rake
        tox
        tox -e py
        nox
        pre-commit run --all-files
        gradle build
        ./gradlew build
        mvn test
        mvn -fae test
        gradle -I /srv/i build
        sh gradlew
        "#,
        FILES,
    );
    none_own(
        r#"
        cmake --version
        make --version
        make -C /srv/s
        cmake --build /srv/b
        ninja -C /srv/b
        "#,
        FILES,
    );
}

#[test]
fn python_tools_run_what_the_directory_has() {
    for files in [FILES, FEW_FILES] {
        all_own(
            r#"
            pip install ./x
            pip install .
            pip install -e .
            pip install -e a/b/..
            pip install '.[dev]'
            pip install -r requirements.txt
            pip install -r reqs
            pip install -rreqs
            pip install --requirement=reqs
            pip install -c reqs foo
            pip install --no-index --find-links a foo
            pip install "$x"
            pip wheel .
            pip download ./x
            python3 -m pip install ./x
            python3 -mpip install ./x
            python3 -I -m pip install ./x
            uv run x.py
            uv run pytest
            uv run x
            uv pip install ./x
            uv pip install .
            uv pip install -r reqs
            uv tool install ./x
            pip install -i file:./x foo
            pip install --index-url=./x foo
            pip install -qr reqs
            pip install --req reqs
            pip install 'foo @ file:x/a' ./b
            uvx --from ./x x
            pipx install ./x
            pytest
            pytest -q
            pytest tests
            pytest -c /srv/p.ini
            pytest /srv/t
            python3 -m pytest
            python3 -Im pytest
            python3 -m unittest
            python -m unittest discover -s tests
            python3 -mcoverage run x
            coverage run x
            mypy a
            pylint a
            sphinx-build a b
            "#
            .replace(
                "-r requirements.txt",
                if files == FILES {
                    "-r requirements.txt"
                } else {
                    "-r reqs"
                },
            )
            .as_str(),
            files,
        );
    }
    none_own(
        r#"
        pip download requests
        pip install requests
        pip install 'requests>=2' foo==1.0
        pip install --upgrade pip
        pip install -U --quiet x.y
        pip list
        pip index versions x
        pip3 show x
        pytest --version
        cd /srv/t && pytest
        ruff check
        "#,
        FILES,
    );
}

#[test]
fn tools_of_node_go_and_rust_run_what_the_directory_has() {
    all_own(
        r#"
        go run .
        go run x.go
        go generate ./...
        go test ./...
        go vet
        go build
        go tool x
        node --run x
        node inspect x.js
        node inspect -p 1 x.js
        node --test
        node x.js
        npm run x
        npm test
        npm install
        npm install ./a
        npm --prefix /srv/t install ./a
        npm version patch
        npx x
        yarn
        yarn --version
        yarn info x
        yarn build
        pnpm install
        pnpm run x
        pnpm --version
        bun run x
        bun test
        bun install
        bun x.js
        deno run x.js
        deno task x
        deno test
        cargo run
        cargo test
        cargo build
        cargo --version
        cargo search x
        cargo fmt
        cargo install --path .
        rustc --version
        rustfmt a
        eslint a
        vite build
        webpack
        "#,
        FILES,
    );
    all_own(
        r#"
        go run x.go
        go run .
        go test
        go generate
        deno test
        node --test
        node inspect x.js
        eslint a
        terraform plan
        cargo search --config x y
        cargo build --config 'build.rustc-wrapper="./x"'
        "#,
        FEW_FILES,
    );
    none_own(
        r#"
        npm view x
        npm search x
        npm whoami
        npm ping
        go version
        go env GOPATH
        node --version
        tsc --noEmit
        deno --version
        "#,
        FILES,
    );
}

#[test]
fn only_container_commands_that_use_session_files_are_marked() {
    all_own(
        r#"
        docker build .
        docker build -t t a
        docker build -f Dockerfile /srv/c
        docker buildx build --push .
        docker image build .
        podman build .
        docker compose up -d
        docker compose -f compose.yaml up
        docker-compose up
        docker run -v .:/w img /w/x
        docker run --rm -v "$PWD":/w img
        docker run -v /:/h img chroot /h x
        docker run --mount type=bind,src=/,dst=/h img
        docker --context c run -it -v/:/h img
        docker --config a pull img
        podman run --volume=/:/h img
        kubectl --kubeconfig x get pods
        helm install --post-renderer ./x r c
        "#,
        FILES,
    );
    none_own(
        r#"
        docker ps
        docker ps -a --filter name=x
        docker images
        docker logs -f c
        docker pull img
        docker run --rm hello-world
        docker run -it --rm img ls
        docker push h/img
        docker compose ps
        docker compose logs -f
        kubectl get pods
        kubectl apply -f x
        helm list
        "#,
        FILES,
    );
}
