import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newPerson, publish } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { operatorArguments, runners, runPage } from "../support/Guides.ts"
import { TestServer } from "../support/Server.ts"
import { mailServer } from "../support/SmtpDouble.ts"

const pages = Object.entries(runners).flatMap(([page, test]) => test === "docs/GuideCommands.test.ts" ? [page] : [])

layer(
  TestServer.layer({ LOCAL_DOMAIN: "example.org" }).pipe(Layer.provideMerge(NodeServices.layer)),
  { excludeTestServices: true }
)("commands of the guide", (it) => {
  it.effect(
    `succeed on a running server, in the order of the pages: ${pages.join(", ")}`,
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { baseUrl, fetch, variables } = yield* TestServer
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-guide-" })
        const { port } = yield* mailServer()
        const posts = new Map<string, string>()
        for (const name of ["ada", "bob", "carol", "mallory"]) {
          const { url } = yield* publish(yield* newPerson(name), `A post by ${name}`)
          posts.set(name, String(url))
        }
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE users SET otp_secret = '\\x00', otp_last_step = 1, otp_enabled_at = created_at
        WHERE email = 'ada@example.org'`

        const run = (page: string) =>
          Effect.fnUntraced(function*(line: string) {
            const here = line.replaceAll(/https:\/\/example\.org\/@(\w+)\/\d+/g, (_, name) => posts.get(name) ?? "")
              .replaceAll("/var/tmp/", `${folder}/`).replaceAll("https://social.example.org", baseUrl)
            const args = operatorArguments(here)
            if (args !== undefined) {
              const mail = args[0] === "mail" ? { SMTP_URL: `smtp://127.0.0.1:${port}` } : {}
              const { code, err, out } = yield* cli(args, { ...variables, ...mail })
              return assert.strictEqual(code, 0, `${page}: ${line}\n${out}${err}`)
            }
            const [, path] = /^curl --fail http:\/\/[^/]+(\/\S*)$/.exec(here) ?? []
            if (path === undefined) return assert.fail(`${page}: ${line} is not known here`)
            assert.strictEqual((yield* fetch(path)).status, 200, line)
          })
        for (const page of pages) yield* runPage(page, run(page))
      }))
  )
})
