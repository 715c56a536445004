import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import sharp from "sharp"
import { AdminCustomEmoji } from "../../../../src/http/staff/wire/AdminCustomEmoji.ts"
import { ask } from "../../../support/Api.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/custom_emojis"

const picture = (format: "avif" | "png", width = 40) =>
  Effect.promise(() => sharp({ create: { width, height: 20, channels: 4, background: "red" } })[format]().toBuffer())

const create = Effect.fnUntraced(function*(by: Person, image: Uint8Array | undefined, fields: Record<string, string>) {
  const { fetch } = yield* TestServer
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  if (image !== undefined) form.set("image", new Blob([new Uint8Array(image)]), "x.png")
  const response = yield* fetch(path, { method: "POST", token: by.token, body: form })
  return { status: response.status, body: JSON.parse(yield* Effect.promise(() => response.text())) }
})

layer(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" }), { excludeTestServices: true })(
  "custom emoji in the API",
  (it) => {
    it.effect("S-093 S-235: are created from a picture, listed, disabled and removed, with effect at once", () =>
      Effect.gen(function*() {
        const by = yield* staffMember("smith", ["manageCustomEmojis"])
        const png = yield* picture("png")
        const { body: created, status } = yield* create(by, png, { shortcode: "anvil", category: "Tools" })
        assert.strictEqual(status, 200, JSON.stringify(created))
        yield* Schema.decodeUnknownEffect(AdminCustomEmoji)(created, { onExcessProperty: "error" })
        assert.deepInclude(created, {
          shortcode: "anvil",
          domain: null,
          category: "Tools",
          visible_in_picker: true,
          disabled: false
        })
        const listed = Effect.map(
          ask(undefined, "GET", "/api/v1/custom_emojis"),
          ({ body }) => body.map(({ shortcode }: { readonly shortcode: string }) => shortcode)
        )
        assert.deepStrictEqual(yield* listed, ["anvil"])
        const change = (what: object) => Effect.map(ask(by, "PATCH", `${path}/${created.id}`, what), ({ body }) => body)
        assert.deepInclude(yield* change({ unlisted: true, category: "" }), {
          visible_in_picker: false,
          category: null
        })
        assert.deepStrictEqual(yield* listed, [])
        assert.deepInclude(yield* change({ visible_in_picker: true, enabled: false }), { disabled: true })
        assert.deepStrictEqual(yield* listed, [])
        yield* change({ enabled: true })
        assert.deepStrictEqual(yield* listed, ["anvil"])
        assert.lengthOf((yield* ask(by, "GET", `${path}?shortcode=NVI`)).body, 1)
        assert.lengthOf((yield* ask(by, "GET", `${path}?remote=true`)).body, 0)
        const wrong: ReadonlyArray<readonly [Uint8Array | undefined, Record<string, string>]> = [
          [undefined, { shortcode: "none" }],
          [png, { shortcode: "anvil" }],
          [png, { shortcode: "not valid" }],
          [png, {}],
          [png, { shortcode: "long", category: "x".repeat(101) }],
          [yield* picture("avif"), { shortcode: "avif" }],
          [new TextEncoder().encode("no picture"), { shortcode: "text" }],
          [new Uint8Array(262_145), { shortcode: "large" }]
        ]
        for (const [image, fields] of wrong) {
          const reply = yield* create(by, image, fields)
          assert.strictEqual(reply.status, 422, JSON.stringify([fields, reply.body]).slice(0, 200))
        }
        const outsider = yield* staffMember("outsider", ["manageRules"])
        assert.strictEqual((yield* create(outsider, png, { shortcode: "mine" })).status, 403)
        assert.deepStrictEqual((yield* ask(by, "DELETE", `${path}/${created.id}`)).body, {})
        assert.strictEqual((yield* ask(by, "GET", `${path}/${created.id}`)).status, 404)
        assert.deepStrictEqual(yield* listed, [])
        assert.deepStrictEqual(
          (yield* auditEntries(by.accountId)).map(({ act, targetLabel }) => `${act} ${targetLabel}`),
          [
            "custom_emoji destroy anvil",
            "custom_emoji enable anvil",
            "custom_emoji disable anvil",
            "custom_emoji update anvil",
            "custom_emoji create anvil"
          ]
        )
      }))

    it.effect("S-235: those of other servers are listed, copied once, and not changed", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const by = yield* staffMember("copier", ["manageCustomEmojis"])
        const { body: source } = yield* create(by, yield* picture("png", 60), { shortcode: "source" })
        const url = String(source.url).replace("localhost", "127.0.0.1")
        yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at) VALUES
          (77, 'far', 'far.test', ${url}, ${url}, ${new Date(0)}),
          (78, 'gone', 'far.test', ${`${url}.gone`}, ${url}, ${new Date(0)})`
        const { body: remote } = yield* ask(by, "GET", `${path}?domain=far.test`)
        assert.deepStrictEqual(remote.map(({ id }: { readonly id: string }) => id), ["78", "77"])
        const { body: copied, status } = yield* ask(by, "POST", `${path}/77/copy`, { category: "Far" })
        assert.strictEqual(status, 200, JSON.stringify(copied))
        assert.deepInclude(copied, { shortcode: "far", domain: null, category: "Far" })
        assert.notStrictEqual(copied.url, url)
        for (const [id, expected] of [["77", 422], ["78", 422], [copied.id, 404], ["900000000000000001", 404]]) {
          assert.strictEqual((yield* ask(by, "POST", `${path}/${id}/copy`, {})).status, expected, `${id}`)
        }
        for (const method of ["PATCH", "DELETE"]) {
          assert.strictEqual((yield* ask(by, method, `${path}/77`, { enabled: false })).status, 404, method)
        }
        const [entry] = yield* auditEntries(by.accountId)
        assert.deepInclude(entry, { act: "custom_emoji copy", targetLabel: "far" })
      }))
  }
)
