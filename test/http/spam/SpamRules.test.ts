import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import sharp from "sharp"
import { AdminHeldPost, AdminSpamRule } from "../../../src/http/spam/wire/Spam.ts"
import { ask, call, idsOf, newPerson, settled } from "../../support/Api.ts"
import { blob, form } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { path, rule, unruled, write } from "./SpamCalls.ts"

const held = "/api/v1/admin/held_posts"

/** Makes a picture with a bright field that starts at a share of its width, and stripes below. */
const face = (share: number) => {
  const edge = 200
  const pixels = Uint8Array.from({ length: edge * edge * 3 }, (_, at) => {
    const [x, y] = [Math.floor(at / 3) % edge, Math.floor(at / 3 / edge)]
    return y < edge / 2 ? (x > share * edge ? 240 : 20) : 60 + 90 * (Math.floor((x + share * 100) / 25) % 2)
  })
  return sharp(pixels, { raw: { width: edge, height: edge, channels: 3 } }).png().toBuffer()
}

layer(TestServer.layer(), { excludeTestServices: true })("spam rules", (it) => {
  it.effect("staff create, order and delete them, and the audit log records it", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("chainer", ["manageRules"])
      const first = yield* rule(by, "report", { text_words: ["pills"] }, { state: "off" })
      yield* Schema.decodeUnknownEffect(AdminSpamRule)(first, { onExcessProperty: "error" })
      const second = yield* rule(by, "drop", { link_domains: ["Evil.example"], links_min: 2 }, { position: 1 })
      assert.deepStrictEqual(second.conditions, { link_domains: ["evil.example"], links_min: 2 })
      assert.deepStrictEqual(yield* idsOf(by, path), [second.id, first.id])
      const ordered = yield* ask(by, "PUT", `${path}/order`, { ids: [first.id] })
      assert.deepStrictEqual(ordered.body.map(({ id }: AdminSpamRule) => id), [first.id, second.id])
      const { body: changed } = yield* ask(by, "PATCH", `${path}/${first.id}`, { state: "dry" })
      assert.deepStrictEqual([changed.state, changed.conditions], ["dry", { text_words: ["pills"] }])
      assert.strictEqual((yield* ask(by, "PATCH", `${path}/${second.id}`, { state: "off" })).body.state, "off")
      const wrong = [
        { name: "" },
        { name: "x".repeat(101) },
        { state: "half" },
        { action: "burn" },
        { score: 1_001 },
        { conditions: {} },
        { conditions: { links_min: -1 } },
        { conditions: { origin: "far" } }
      ]
      for (const given of wrong) {
        const { body, status } = yield* ask(by, "PATCH", `${path}/${first.id}`, given)
        assert.strictEqual(status, 422, JSON.stringify(given))
        assert.match(body.error, /^Validation failed: /)
      }
      assert.strictEqual((yield* ask(by, "POST", path, { name: "x", conditions: "text" })).status, 422)
      assert.strictEqual((yield* ask(by, "PUT", `${path}/order`, { ids: ["1"] })).status, 404)
      yield* unruled(by)
      assert.strictEqual((yield* ask(by, "GET", `${path}/${first.id}`)).status, 404)
      assert.deepStrictEqual((yield* auditEntries(by.accountId)).map(({ act }) => act), [
        "spam_rule destroy",
        "spam_rule destroy",
        "spam_rule disable",
        "spam_rule update",
        "spam_rule update",
        "spam_rule create",
        "spam_rule create"
      ])
      assert.strictEqual((yield* ask(yield* staffMember("other", ["manageReports"]), "GET", path)).status, 403)
    }))

  it.effect("a dropped post is refused with 422, and not stored; a dry rule only counts", () =>
    Effect.gen(function*() {
      const [by, anna] = [yield* staffMember("dropper", ["manageRules"]), yield* newPerson("anna")]
      const dry = yield* rule(by, "hold", { text_contains: ["casino"] }, { state: "dry" })
      const dropped = yield* rule(by, "drop", { text_contains: ["casino royal"] })
      assert.strictEqual((yield* write(anna, "Casino night")).status, 200)
      const refused = yield* write(anna, "CASINO  royal".replace("  ", " "))
      assert.deepStrictEqual([refused.status, refused.body], [422, {
        error: "This post was rejected by a spam rule of this server"
      }])
      assert.strictEqual((yield* idsOf(anna, `/api/v1/accounts/${anna.accountId}/statuses`)).length, 1)
      assert.deepStrictEqual((yield* ask(by, "GET", `${path}/${dry.id}`)).body.hits, { on: 0, dry: 2 })
      assert.deepStrictEqual((yield* ask(by, "GET", `${path}/${dropped.id}`)).body.hits, { on: 1, dry: 0 })
      // An edit cannot add the text either, and staff are not notified.
      const [id] = yield* idsOf(anna, `/api/v1/accounts/${anna.accountId}/statuses`)
      const edited = yield* ask(anna, "PUT", `/api/v1/statuses/${id}`, { status: "casino royal" })
      assert.strictEqual(edited.status, 422)
      assert.include((yield* ask(anna, "GET", `/api/v1/statuses/${id}`)).body.content, "Casino night")
      assert.strictEqual((yield* write(by, "casino royal")).status, 200)
      yield* unruled(by)
      assert.strictEqual((yield* write(anna, "casino royal")).status, 200)
    }))

  it.effect("F124: a role that only reads feeds or offers posts by e-mail gives no exemption; a staff role does", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("warden", ["manageRules"])
      const members = [
        yield* staffMember("reader4", ["viewFeeds"]),
        yield* staffMember("mailer4", ["manageEmailSubscriptions"]),
        yield* staffMember("host4", ["inviteUsers", "inviteBypassApproval"])
      ]
      yield* rule(by, "drop", { text_words: ["casino"] })
      for (const one of members) assert.strictEqual((yield* write(one, "casino")).status, 422, one.username)
      assert.strictEqual((yield* write(yield* staffMember("helper4", ["viewDashboard"]), "casino")).status, 200)
      yield* unruled(by)
    }))

  it.effect("a held post is visible only to its author until a moderator approves it; then it is published", () =>
    Effect.gen(function*() {
      const [by, mod] = [yield* staffMember("holder", ["manageRules"]), yield* staffMember("mona", ["manageReports"])]
      const [ben, cleo] = [yield* newPerson("ben"), yield* newPerson("cleo")]
      yield* rule(by, "hold", { text_words: ["lottery"], strangers_min: 1 })
      const { body: post } = yield* write(ben, "@cleo won the lottery #luck")
      const { body: second } = yield* write(ben, "@cleo another lottery")
      yield* settled
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/statuses/${post.id}`)).status, 404)
      assert.deepStrictEqual(yield* idsOf(cleo, "/api/v1/notifications"), [])
      assert.strictEqual((yield* ask(ben, "GET", `/api/v1/statuses/${post.id}`)).status, 200)
      assert.deepStrictEqual(yield* idsOf(undefined, `/api/v1/accounts/${ben.accountId}/statuses`), [])
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/accounts/${ben.accountId}`)).body.statuses_count, 0)
      assert.strictEqual((yield* ask(ben, "PUT", `/api/v1/statuses/${post.id}`, { status: "@cleo hi" })).status, 403)
      const { body: waiting } = yield* ask(mod, "GET", held)
      assert.deepStrictEqual(waiting.map(({ id }: AdminHeldPost) => id), [second.id, post.id])
      const one = yield* Schema.decodeUnknownEffect(AdminHeldPost)(waiting[1], { onExcessProperty: "error" })
      assert.deepStrictEqual([one.visibility, one.rule_name, one.account.username], ["public", "hold", "ben"])
      assert.strictEqual((yield* ask(mod, "POST", `${held}/${post.id}/approve`)).status, 200)
      assert.strictEqual((yield* ask(mod, "POST", `${held}/${post.id}/approve`)).status, 404)
      assert.strictEqual((yield* ask(mod, "POST", `${held}/${second.id}/reject`)).status, 200)
      yield* settled
      const shown = yield* ask(cleo, "GET", `/api/v1/statuses/${post.id}`)
      assert.deepStrictEqual([shown.body.visibility, shown.body.mentions[0].username], ["public", "cleo"])
      assert.strictEqual((yield* idsOf(cleo, "/api/v1/notifications")).length, 1)
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/accounts/${ben.accountId}`)).body.statuses_count, 1)
      assert.strictEqual((yield* ask(ben, "GET", `/api/v1/statuses/${second.id}`)).status, 404)
      // Deleting a held post changes no counter.
      const { body: third } = yield* write(ben, "@cleo a third lottery")
      assert.strictEqual((yield* ask(ben, "DELETE", `/api/v1/statuses/${third.id}`)).status, 200)
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/accounts/${ben.accountId}`)).body.statuses_count, 1)
      assert.deepStrictEqual((yield* ask(mod, "GET", held)).body, [])
      assert.deepStrictEqual((yield* auditEntries(mod.accountId)).map(({ act }) => act), [
        "status reject",
        "status approve"
      ])
      yield* unruled(by)
    }))

  it.effect("scores add up to a threshold, a flood is one report of the server, and a limit can be appealed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [by, mod] = [yield* staffMember("scorer", ["manageRules"]), yield* staffMember("max", ["manageReports"])]
      const dora = yield* newPerson("dora")
      yield* rule(by, "score", { links_min: 1 }, { score: 4 })
      yield* rule(by, "report", { score_min: 8 })
      const limits = yield* rule(by, "limit", { score_min: 12 })
      const statuses = []
      for (const n of [1, 2, 3]) statuses.push((yield* write(dora, `see https://shop.example/${n}`)).body)
      yield* settled
      const { body: reports } = yield* ask(mod, "GET", "/api/v1/admin/reports")
      assert.strictEqual(reports.length, 1)
      const [{ category, comment, statuses: named, target_account: target }] = reports
      assert.deepStrictEqual([category, target.username, comment], ["spam", "dora", "score, report"])
      assert.deepStrictEqual(named.map(({ id }: { readonly id: string }) => id), [statuses[1].id, statuses[2].id])
      const types = Effect.map(
        ask(mod, "GET", "/api/v1/notifications"),
        ({ body }) => body.map(({ type }: { readonly type: string }) => type)
      )
      assert.deepStrictEqual(yield* types, ["admin.report"])
      assert.deepStrictEqual(statuses.map(({ visibility }) => visibility), ["public", "public", "unlisted"])
      const { body: told } = yield* ask(dora, "GET", "/api/v1/notifications")
      assert.deepStrictEqual([told[0].type, told[0].moderation_warning.action], ["moderation_warning", "silence"])
      const [score] = yield* sql<{ score: number }>`SELECT score FROM spam_scores WHERE account_id = ${dora.accountId}`
      assert.approximately(score!.score, 12, 0.01)
      // A week later half of the score is left, below the limit.
      yield* sql`UPDATE spam_scores SET scored_at = scored_at - interval '7 days'`
      yield* write(dora, "see https://shop.example/4")
      assert.strictEqual((yield* ask(by, "GET", `${path}/${limits.id}`)).body.hits.on, 1)
      yield* unruled(by)
    }))

  it.effect("pictures that imitate others are found, and boosts: by their number and by accounts with the same boosts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("curator", ["manageRules"])
      const [gina, hans, ines] = [yield* newPerson("gina"), yield* newPerson("hans"), yield* newPerson("ines")]
      const wear = (one: typeof gina, file: Buffer) =>
        call("PATCH", "/api/v1/accounts/update_credentials", one.token, form({ avatar: blob(file) }))
      const faces = yield* Effect.promise(() => Promise.all([0.2, 0.8].map((share) => face(share))))
      yield* wear(gina, faces[0]!)
      yield* wear(hans, faces[1]!)
      // Another account's picture, smaller and re-encoded.
      yield* wear(ines, yield* Effect.promise(() => sharp(faces[0]).resize(60, 60).jpeg({ quality: 50 }).toBuffer()))
      yield* rule(by, "drop", { avatar_accounts: ["@gina"], account_hours_max: 10 })
      const says = (one: typeof gina) => Effect.map(write(one, "look at me"), ({ status }) => status)
      assert.deepStrictEqual([yield* says(gina), yield* says(hans), yield* says(ines)], [200, 200, 422])
      yield* wear(ines, faces[1]!)
      assert.strictEqual(yield* says(ines), 200)
      yield* wear(ines, faces[0]!)
      assert.strictEqual(yield* says(ines), 422)
      // A picture at another address is still unknown.
      yield* sql`UPDATE accounts SET avatar_remote_url = 'https://else.example/face' WHERE id = ${ines.accountId}`
      assert.strictEqual(yield* says(ines), 200)
      yield* wear(ines, faces[0]!)
      yield* call("DELETE", "/api/v1/profile/avatar", ines.token)
      const [bare] = yield* sql`SELECT avatar_hash FROM accounts WHERE id = ${ines.accountId}`
      assert.deepStrictEqual([bare, yield* says(ines)], [{ avatarHash: null }, 200])
      yield* unruled(by)

      const posts = yield* Effect.forEach(
        ["one", "two", "three"],
        (text) => Effect.map(write(gina, text), (one) => one.body.id)
      )
      const boost = (one: typeof gina, id: string) =>
        Effect.map(ask(one, "POST", `/api/v1/statuses/${id}/reblog`), ({ status }) => status)
      yield* rule(by, "drop", { hourly_boosts_min: 2 })
      const many = yield* Effect.forEach(posts, (id) => boost(hans, id))
      assert.deepStrictEqual([many, yield* says(hans)], [[200, 200, 422], 200])
      const [count] = yield* sql`SELECT count(*)::int AS boosts FROM statuses WHERE account_id = ${hans.accountId}
        AND reblog_of_id IS NOT NULL`
      assert.deepStrictEqual(count, { boosts: 2 })
      yield* unruled(by)
      yield* rule(by, "hold", { same_boost_accounts_min: 1, text_words: ["one"] })
      assert.deepStrictEqual([yield* boost(ines, posts[1]), yield* boost(ines, posts[0])], [200, 422])
      yield* unruled(by)
      assert.strictEqual(yield* boost(ines, posts[0]), 200)
    }))

  it.effect("the same text of several accounts, and names that pass for staff's, are found", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("moderator1", ["manageRules"])
      yield* rule(by, "drop", { same_text_accounts_min: 2 })
      const text = (n: number) => `@somebody Join our wonderful channel right now, ${n} people did`
      const crowd = yield* Effect.forEach(["eve1", "eve2", "eve3"], newPerson)
      const responses = yield* Effect.forEach(crowd, (one, n) => write(one, text(n)))
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 200, 422])
      // Harmless repeated texts are allowed.
      assert.strictEqual((yield* write(crowd[0]!, "Good morning, everybody, it is a nice day outside")).status, 200)
      yield* rule(by, "drop", { look_alike: ["staff"] })
      const fake = yield* newPerson("m0derator_l")
      assert.strictEqual((yield* write(fake, "send me your password")).status, 422)
      assert.strictEqual((yield* write(crowd[1]!, "nothing of the kind")).status, 200)
      yield* unruled(by)
    }))
})
