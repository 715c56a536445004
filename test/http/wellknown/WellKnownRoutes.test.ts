import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { NodeInfo, NodeInfoLinks } from "../../../src/http/wire/NodeInfo.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { get, send } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

const strict = { onExcessProperty: "error" } as const

const finger = (resource: string) => get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`)

layer(server(), { excludeTestServices: true })("well-known", (it) => {
  it.effect("S-008 S-030 S-031 S-032 S-033 S-034 S-035 S-036 S-037 S-038 S-039 S-294 S-295 S-301: the NodeInfo document has version 2.0 and nothing beyond its schema", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const daysAgo = (days: number) => now - days * 86_400_000
      const [anna] = [
        yield* person("anna", { seenAt: daysAgo(29) }),
        yield* person("ben", { seenAt: daysAgo(31) }),
        yield* person("cleo", { seenAt: daysAgo(181) })
      ]
      const suspended = yield* person("dora")
      yield* sql`UPDATE accounts SET suspended_at = ${new Date(now)} WHERE id = ${suspended}`
      yield* sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${yield* person("unconfirmed")}`
      yield* status(anna, "one")
      yield* sql`UPDATE account_stats SET statuses_count = 1 WHERE account_id = ${anna}`

      const discovery = yield* get("/.well-known/nodeinfo")
      const { links } = yield* Schema.decodeUnknownEffect(NodeInfoLinks, strict)(discovery.body)
      assert.deepStrictEqual(links, [{
        rel: "http://nodeinfo.diaspora.software/ns/schema/2.0",
        href: "https://local.example/nodeinfo/2.0"
      }])
      const { body, headers } = yield* get("/nodeinfo/2.0")
      const document = yield* Schema.decodeUnknownEffect(NodeInfo, strict)(body)
      assert.deepStrictEqual(document.software.name, "murmuration")
      assert.deepStrictEqual(document.protocols, ["activitypub"])
      assert.deepStrictEqual(document.services, { inbound: [], outbound: [] })
      assert.strictEqual(document.openRegistrations, true)
      assert.deepStrictEqual(document.usage, {
        users: { total: 3, activeMonth: 1, activeHalfyear: 2 },
        localPosts: 1
      })
      // Without values, both are still texts.
      assert.deepStrictEqual(Object.keys(document.metadata).toSorted(), ["nodeDescription", "nodeName"])
      for (const text of Object.values(document.metadata)) assert.isString(text)
      assert.strictEqual(headers.get("cache-control"), "private, no-store")
      assert.strictEqual(headers.get("access-control-allow-origin"), "*")
      assert.strictEqual((yield* get("/nodeinfo/2.1")).status, 404)
    }))

  it.effect("D-027: webfinger: a local account by handle and by its addresses, in any case", () =>
    Effect.gen(function*() {
      yield* person("Erika")
      for (
        const resource of [
          "acct:Erika@local.example",
          "erika@LOCAL.example",
          "acct:@erika@local.example",
          "https://local.example/@erika",
          "https://local.example/users/erika"
        ]
      ) {
        const { headers, status, text } = yield* finger(resource)
        assert.strictEqual(status, 200, resource)
        assert.match(headers.get("content-type") ?? "", /^application\/jrd\+json/)
        assert.strictEqual(headers.get("cache-control"), "public, max-age=259200")
        const document = JSON.parse(text)
        assert.strictEqual(document.subject, "acct:Erika@local.example")
        assert.deepStrictEqual(document.aliases, ["https://local.example/@Erika", "https://local.example/users/Erika"])
        assert.deepStrictEqual(document.links.map(({ rel }: { readonly rel: string }) => rel), [
          "http://webfinger.net/rel/profile-page",
          "self",
          "http://ostatus.org/schema/1.0/subscribe",
          "https://w3id.org/fep/3b86/Follow",
          "https://w3id.org/fep/3b86/Announce",
          "https://w3id.org/fep/3b86/Like",
          "https://w3id.org/fep/3b86/Object",
          "https://w3id.org/fep/3b86/Create",
          "http://webfinger.net/rel/avatar"
        ])
        assert.deepInclude(document.links, {
          rel: "http://ostatus.org/schema/1.0/subscribe",
          template: "https://local.example/authorize_interaction?uri={uri}"
        })
        for (const name of ["Follow", "Announce", "Like", "Object"]) {
          assert.deepInclude(document.links, {
            rel: `https://w3id.org/fep/3b86/${name}`,
            template: "https://local.example/authorize_interaction?uri={object}"
          })
        }
        assert.deepInclude(document.links, {
          rel: "https://w3id.org/fep/3b86/Create",
          template: "https://local.example/share?title={name}&text={content}"
        })
        assert.deepInclude(document.links, {
          rel: "self",
          type: "application/activity+json",
          href: "https://local.example/users/Erika"
        })
      }
    }))

  it.effect("webfinger: 400 for invalid, 404 for unknown and 410 for deleted names", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO retired_usernames (username, retired_at) VALUES ('gone', ${now})`
      const waiting = yield* person("waiting")
      yield* sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${waiting}`
      const expected: ReadonlyArray<readonly [resource: string, status: number]> = [
        ["", 400],
        ["acct:nobody", 400],
        ["acct:a b@local.example", 400],
        [`acct:${"x".repeat(3_000)}@local.example`, 400],
        ["acct:nobody@local.example", 404],
        ["acct:null\0@local.example", 404],
        ["acct:unknown@local.example", 404],
        ["acct:anna@other.example", 404],
        ["https://local.example/", 404],
        ["https://other.example/@anna", 404],
        ["acct:waiting@local.example", 404],
        ["acct:Gone@local.example", 410]
      ]
      for (const [resource, status] of expected) {
        assert.strictEqual((yield* finger(resource)).status, status, resource.slice(0, 60))
      }
      assert.strictEqual((yield* get("/.well-known/webfinger")).status, 400)
    }))

  it.effect("S-045: a suspended account keeps its handle", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* finger("acct:dora@local.example")).status, 200)
    }))

  it.effect("row 79: URLs come from the configuration, not from the host of a request", () =>
    Effect.gen(function*() {
      const headers = { host: "evil.test", "x-forwarded-host": "evil.test" }
      for (
        const path of ["/.well-known/webfinger?resource=erika@local.example", "/.well-known/nodeinfo", "/nodeinfo/2.0"]
      ) {
        const { status, text } = yield* send(path, { headers })
        assert.strictEqual(status, 200)
        assert.notInclude(text, "evil.test")
      }
    }))

  it.effect("host-meta as XRD, and as JSON on request", () =>
    Effect.gen(function*() {
      const xml = yield* get("/.well-known/host-meta")
      assert.match(xml.headers.get("content-type") ?? "", /^application\/xrd\+xml/)
      assert.include(xml.text, `template="https://local.example/.well-known/webfinger?resource={uri}"`)
      const byName = yield* get("/.well-known/host-meta.json")
      const byAccept = yield* send("/.well-known/host-meta", { headers: { accept: "application/json" } })
      for (const { body } of [byName, byAccept]) {
        assert.deepStrictEqual(body, {
          links: [{ rel: "lrdd", template: "https://local.example/.well-known/webfinger?resource={uri}" }]
        })
      }
    }))

  it.effect("health and change-password", () =>
    Effect.gen(function*() {
      const health = yield* get("/health")
      assert.deepStrictEqual([health.status, health.text], [200, "OK"])
      const change = yield* get("/.well-known/change-password")
      assert.deepStrictEqual([change.status, change.headers.get("location")], [302, "/auth/password/new"])
    }))
})

layer(server({ limitedFederation: true, registrations: "closed" }), { excludeTestServices: true })(
  "well-known, restricted",
  (it) => {
    it.effect("S-036: the page is served and says that sign-up is closed", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* get("/nodeinfo/2.0")).body.openRegistrations, false)
        yield* person("anna")
        const { status, text } = yield* finger("anna@local.example")
        assert.strictEqual(status, 200)
        assert.notInclude(text, "avatar")
      }))
  }
)
