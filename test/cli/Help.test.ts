import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { exitCodes } from "../../src/layers/OperatorError.ts"
import { cli } from "../support/CommandLine.ts"
import { argumentsOf, helpOf, places, refused } from "../support/CommandTree.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"

describe("help of the command line", () => {
  it("lists each command once (F274)", () => {
    const names = places.map(({ path }) => path.join(" "))
    assert.deepStrictEqual(names.filter((name, at) => names.indexOf(name) !== at), [])
  })

  it.live("every command has a description, flags with descriptions, and examples", () =>
    Effect.gen(function*() {
      assert.isAtLeast(places.length, 50)
      const names = places.map(({ path }) => path.join(" "))
      assert.deepStrictEqual(names.filter((name, at) => names.indexOf(name) !== at), [], "each command is there once")
      for (const { path } of places) {
        const name = path.join(" ")
        const { args = [], description, examples = [], flags } = yield* helpOf(path)
        assert.match(description, /^[A-Z].*[^.]$/, name)
        assert.isNotEmpty(examples, `${name} has examples`)
        for (const one of [...args, ...flags]) {
          assert.strictEqual(one.description._tag, "Some", `${name}: ${one.name} has a description`)
        }
        for (const { command, description } of examples) {
          assert.isTrue(command.startsWith(["npm run cli --", ...path.slice(1)].join(" ")), command)
          assert.isNotEmpty(description, command)
        }
      }
    }))

  it.live("every example is a command line that the program accepts", () =>
    Effect.gen(function*() {
      const examples = (yield* Effect.forEach(places, ({ path }) => helpOf(path))).flatMap(({ examples = [] }) =>
        examples
      )
      for (const { command } of examples.filter(({ command }) => !command.endsWith("--help"))) {
        const ended = yield* cli(argumentsOf(command).slice(4), refused)
        assert.deepInclude(ended, { code: 1, out: "" }, command)
        assert.match(ended.err, /^.*PORT: /s, command)
      }
      const unknown = yield* cli(["account", "create", "ada", "--emial", "ada@example.org"], refused)
      assert.deepInclude(unknown, { code: 2, out: "" })
      assert.match(
        unknown.err,
        /^DESCRIPTION\n[^]*--email string .* \(required\)\n[^]*--emial[^]*Did you mean[^]*--email/
      )
    }))

  it.live("shows examples before usage and flags, and the exit codes in the program's help", () =>
    Effect.gen(function*() {
      const one = yield* cli(["token", "create", "--help"], refused)
      assert.strictEqual(one.code, 0)
      assert.match(
        one.out,
        /^DESCRIPTION\n {2}Creates a token.*\n\nEXAMPLES\n {2}# .*\n {2}npm run cli -- token create ada --scopes "read write"\n\nUSAGE\n {2}npm run cli -- token create.*\n\nARGUMENTS\n[^]*\n\nFLAGS\n/
      )
      const all = yield* cli(["--help"], refused)
      for (const [code, meaning] of Object.entries(exitCodes)) assert.include(all.out, `  ${code}  ${meaning}\n`)
      assert.notInclude(one.out, exitCodes[3])
      assert.include(one.out, "Run 'npm run cli -- --help' for global flags")
    }))
})

describe("exit codes", () => {
  const code = (args: ReadonlyArray<string>, variables: Record<string, string> = refused) =>
    Effect.map(cli(args, variables), ({ code }) => code)

  it.live("are 2 for an unknown command or flag, a missing argument, a wrong value, and a group without a command", () =>
    Effect.gen(function*() {
      const wrong = [
        ["nothing"],
        ["account", "craete"],
        ["account", "show"],
        ["account", "create", "ada", "--email", "a@b.example", "--role", "king"],
        ["announcement", "remove", "x"],
        ["instance", "rules", "remove", "first"],
        ["restart", "now"],
        ["emoji"],
        []
      ]
      for (const args of wrong) assert.strictEqual(yield* code(args), 2, args.join(" "))
    }))

  it.live("are 0 for help and the version, and 1 for a wrong configuration", () =>
    Effect.gen(function*() {
      for (const args of [["--help"], ["emoji", "--help"], ["--version"], ["--completions", "bash"]]) {
        assert.strictEqual(yield* code(args), 0, args.join(" "))
      }
      assert.strictEqual(yield* code(["migrate"]), 1)
    }))

  it.live("are 3 without a database, which is reported within five seconds", () =>
    Effect.gen(function*() {
      const from = performance.now()
      const ended = yield* cli(["account", "list", "--pending"], { DATABASE_URL: "postgres://a:b@127.0.0.1:1/none" })
      assert.isBelow(performance.now() - from, allowedMillis(5_000))
      assert.strictEqual(ended.code, 3)
      assert.match(ended.err, /^The database cannot be used: .*\n$/)
    }))
})

describe("shell completion", () => {
  const script = (shell: string) => Effect.map(cli(["--completions", shell], refused), ({ out }) => out)

  it.live("has all subcommands in the scripts of bash, zsh and fish", () =>
    Effect.gen(function*() {
      for (const shell of ["bash", "zsh", "fish"]) {
        const text = yield* script(shell)
        for (const { path } of places) for (const word of path) assert.include(text, word, shell)
        assert.include(text, "reset-password", shell)
      }
    }))

  it.live("offers commands, flags and values in bash", () =>
    Effect.gen(function*() {
      const typed = ["acc", "account sh", "account show ada --js", "instance rules ", "domain block x --severity "]
      const program = `${yield* script("bash")}
        complete_for() {
          COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=(); COMP_POINT=\${#COMP_LINE}
          _murmuration murmuration "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"; echo "\${COMPREPLY[*]}"
        }
        ${typed.map((words) => `complete_for murmuration ${words.replace(/ $/, " \"\"")}`).join("\n")}`
      const out = yield* Effect.callback<string>((resume) => {
        execFile("bash", ["-c", program], (_error, out) => resume(Effect.succeed(out)))
      })
      assert.deepStrictEqual(out.trim().split("\n"), [
        "account",
        "show",
        "--json",
        "list add change translate move remove",
        "silence suspend noop"
      ])
    }))
})
