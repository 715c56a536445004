import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, FileSystem, Scope } from "effect"
import { cli } from "../support/CommandLine.ts"
import { operatorArguments, runners, runPage } from "../support/Guides.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { mailServer } from "../support/SmtpDouble.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const pages = Object.entries(runners).flatMap(([page, test]) => test === "docs/GuideFolders.test.ts" ? [page] : [])

/** Creates a sign-up that awaits approval. */
const pendingMember = (origin: string, username: string) =>
  Effect.promise(async () => {
    const send = async (path: string, fields: Record<string, string>, token?: string) => {
      const response = await fetch(`${origin}${path}`, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` }
      })
      const body = await response.json() as Record<string, string>
      assert.strictEqual(response.status, 200, JSON.stringify(body))
      return body
    }
    const { client_id = "", client_secret = "" } = await send("/api/v1/apps", {
      client_name: "guide",
      redirect_uris: "urn:ietf:wg:oauth:2.0:oob",
      scopes: "read write"
    })
    const { access_token } = await send("/oauth/token", {
      client_id,
      client_secret,
      grant_type: "client_credentials",
      scope: "read write"
    })
    await send("/api/v1/accounts", {
      username,
      email: `${username}@example.org`,
      password: "correct horse battery staple",
      agreement: "true",
      locale: "en",
      reason: "birds"
    }, access_token)
  })

/** A machine of the guide: folders, variables, and the running server. */
const machine = Effect.fnUntraced(function*(page: string) {
  const fs = yield* FileSystem.FileSystem
  const files = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-guide-" })
  // The temporary folder that contains the data folders is older than the server, so the data is removed after the
  // server has stopped.
  const folder = fs.makeTempDirectory({ directory: files })
  for (const name of ["privacy.html", "terms.html"]) yield* fs.writeFileString(`${files}/${name}`, `<p>${name}</p>`)
  const { port: mailPort } = yield* mailServer()
  const { url: database } = yield* TestDatabase
  const variables: Record<string, string> = {
    DATA_DIR: yield* folder,
    LOCAL_DOMAIN: "example.org",
    REGISTRATIONS: "approval",
    SIGNUP_CONFIRMATION: "none"
  }
  let running: Scope.Closeable | undefined
  /** Time after the last base copy, and before a later change. */
  let restorable = ""
  const stop = Effect.suspend(() => running === undefined ? Effect.void : Scope.close(running, Exit.void))
  yield* Effect.addFinalizer(() => stop)

  /** Starts a server at a free port, and stops a running one first. Returns its address and its output. */
  const start = Effect.gen(function*() {
    yield* stop
    running = yield* Scope.make()
    const port = yield* freePort
    Object.assign(variables, { PORT: String(port), PUBLIC_URL: `http://localhost:${port}` })
    const server = yield* Scope.provide(Program.start("main", [], variables), running)
    yield* Program.printed(server, "Murmuration is at")
    return { origin: `http://127.0.0.1:${port}`, out: server.out() }
  })

  const operate = (args: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      // As the guide says: the target of a restore is new, and no server runs on a database that is copied.
      if (args[0] === "restore") variables["DATA_DIR"] = yield* folder
      if (["restore", "transfer"].some((command) => args.slice(0, 2).includes(command))) yield* stop
      const mail = args[0] === "mail" ? { SMTP_URL: `smtp://127.0.0.1:${mailPort}` } : {}
      const { code, err, out } = yield* cli(args, { ...variables, ...mail })
      assert.strictEqual(code, 0, `${page}: ${args.join(" ")}\n${out}${err}`)
    })

  const run = (line: string) =>
    Effect.gen(function*() {
      const here = line.replaceAll("/var/backups/", `${files}/`)
        .replace(/(?<=--until )\S+/, restorable)
        .replaceAll(/(?<= )(privacy|terms)\.html/g, `${files}/$1.html`)
      const args = operatorArguments(here)
      if (args !== undefined) {
        yield* operate(args)
        if (args[1] !== "base") return
        restorable = new Date().toISOString()
        return yield* operate(["account", "create", "eve", "--email", "eve@example.org", "--confirmed"])
      }
      if (here.startsWith("export DATABASE_URL=")) return void (variables["DATABASE_URL"] = database)
      if (here.startsWith("export DATA_DIR=")) {
        yield* stop
        return void (variables["DATA_DIR"] = yield* folder)
      }
      const [, archive] = /^export WAL_ARCHIVE_DIR=(\S+)$/.exec(here) ?? []
      if (archive !== undefined) return void (variables["WAL_ARCHIVE_DIR"] = archive)
      if (here === "unset WAL_ARCHIVE_DIR") return void (delete variables["WAL_ARCHIVE_DIR"])
      if (!/^(?:[A-Z_]+=\S+ )*npm start$/.test(here)) return assert.fail(`${page}: ${line} is not known here`)
      const { origin, out } = yield* start
      if (page !== "first-hour.md") return
      assert.include(out, "Create the owner's account: open this address in a browser.")
      yield* pendingMember(origin, "bob")
    })
  return { run, start, operate }
})

layer(NodeServices.layer, { excludeTestServices: true })(
  "commands of the guide on a machine with one folder",
  (it) => {
    it.effect.each(pages)(
      "%s: each succeeds",
      (page) =>
        Effect.gen(function*() {
          const { operate, run, start } = yield* machine(page)
          if (page !== "first-hour.md") {
            yield* start
            yield* operate(["account", "create", "ada", "--email", "ada@example.org", "--confirmed"])
          }
          yield* runPage(page, run)
        }).pipe(Effect.provide(TestDatabase.layerEmpty), Effect.scoped)
    )
  }
)
