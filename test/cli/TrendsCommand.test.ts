import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { call } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { linkedBy, refreshTrends, remoteAccounts, taggedBy } from "../support/Crowd.ts"
import { TestServer } from "../support/Server.ts"

const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { variables } = yield* TestServer
  return yield* cli(["trends", ...args], variables)
})

layer(Layer.provideMerge(TestServer.layer(), NodeServices.layer), { excludeTestServices: true })(
  "npm run cli -- trends",
  (it) => {
    it.effect("lists pending trends, and decisions apply at once", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        assert.include((yield* run("waiting")).out, "Nothing is waiting for review.")
        const me = yield* createPerson("ada")
        yield* call("POST", "/api/v1/statuses", me.token, { status: "#Rising" })
        const many = yield* remoteAccounts("cli.test", 9)
        yield* taggedBy("rising", many)
        yield* linkedBy("https://news.test/", many)
        yield* refreshTrends
        const { out } = yield* run("waiting")
        assert.match(out, /^tag\tRising$/m)
        const [, link = ""] = /^link\t(\d+)\thttps:\/\/news\.test\/\tnews\.test$/m.exec(out) ?? []
        assert.notStrictEqual(link, "")
        const trending = Effect.map(call("GET", "/api/v1/trends/tags", undefined), ({ body }) => body.length)
        assert.strictEqual((yield* run("approve", "tag", "#rising")).code, 0)
        assert.strictEqual(yield* trending, 1)
        assert.strictEqual((yield* run("reject", "tag", "rising")).code, 0)
        assert.strictEqual(yield* trending, 0)
        for (const subject of [["link", link], ["site", "news.test"], ["account", "ada"]]) {
          assert.strictEqual((yield* run("reject", ...subject)).code, 0, subject.join(" "))
        }
        assert.include((yield* run("waiting")).out, "Nothing is waiting for review.")
        for (const subject of [["tag", "nothing"], ["status", "1"], ["link", "x"], ["account", "nobody"]]) {
          const { code, err } = yield* run("approve", ...subject)
          assert.strictEqual(code, 1)
          assert.include(err, `There is no ${subject.join(" ")} here`)
        }
      }))
  }
)
