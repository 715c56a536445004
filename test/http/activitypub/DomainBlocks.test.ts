import type { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { notify } from "../../../src/layers/PostgresChannel.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { DomainBlocks } from "../../../src/services/federation/domains/DomainBlocks.ts"
import { json, newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, servers, settled } from "./Sending.ts"

const commands = DomainBlocks.layer.pipe(Layer.provide(Layer.effect(
  Broadcast,
  Effect.map(Effect.context<PgClient.PgClient>(), (context) =>
    Broadcast.of({
      publish: (message) => Effect.orDie(Effect.provide(notify(message), context)),
      subscribe: Effect.die("nobody listens"),
      onMessage: () => Effect.void,
      connected: Effect.succeed(true)
    }))
)))
const run = (...args: ReadonlyArray<string>) => TestServer.use(({ variables }) => cli(args, variables))
/** Runs a command's effect without a separate process. */
const rule = <A, E>(change: (domains: DomainBlocks["Service"]) => Effect.Effect<A, E>) =>
  Effect.orDie(Effect.provide(DomainBlocks.use(change), commands))
const domain = OtherServer.use((other) => Effect.succeed(other.domain))

const accountOf = Effect.fnUntraced(function*(by: Person, name: string) {
  const handle = encodeURIComponent(`${name}@${yield* domain}`)
  return (yield* json(by, `/api/v2/search?type=accounts&resolve=true&q=${handle}`)).accounts[0]
})
/** Makes the two accounts follow each other. */
const befriend = Effect.fnUntraced(function*(by: Person, name: string) {
  const [friend, me] = [yield* there(name), yield* actorOf(by)]
  const { id } = yield* accountOf(by, name)
  yield* json(by, `/api/v1/accounts/${id}/follow`, undefined, "POST")
  yield* deliverFrom(friend, { type: "Accept", object: { type: "Follow", actor: me, object: friend.id } })
  yield* deliverFrom(friend, { type: "Follow", object: me })
  return { ...friend, accountId: id }
})

layer(servers, { excludeTestServices: true })("blocks of domains", (it) => {
  it.effect("row 17, S-009, D-031: suspend severs all relations with a domain, notifies the affected users, and unblock lifts it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { documents, domain, requests } = yield* OtherServer
      const [ada, bob] = [yield* newPerson("ada"), yield* newPerson("bob")]
      const zoe = yield* befriend(ada, "zoe")
      yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "before") })
      const home = Effect.map(json(ada, "/api/v1/timelines/home"), (all: ReadonlyArray<unknown>) => all.length)
      assert.strictEqual(yield* home, 1)
      assert.strictEqual((yield* run("domain", "block", domain, "--severity", "suspend")).code, 0)
      const severed = yield* eventually(
        Effect.map(json(ada, "/api/v1/notifications"), ([first]) => first),
        (first) => first?.type === "severed_relationships"
      )
      assert.deepInclude(severed.event, {
        type: "domain_block",
        target_name: domain,
        followers_count: 1,
        following_count: 1,
        purged: false
      })
      assert.strictEqual(severed.account.username, "ada")
      const groups = yield* json(ada, "/api/v2/notifications")
      assert.deepStrictEqual(groups.notification_groups[0].event, severed.event)
      assert.isEmpty(yield* json(bob, "/api/v1/notifications"))
      assert.strictEqual(yield* home, 0)
      const counts = yield* json(ada, "/api/v1/accounts/verify_credentials")
      assert.deepInclude(counts, { followers_count: 0, following_count: 0 })
      const { fetch } = yield* TestServer
      assert.strictEqual((yield* fetch(`/api/v1/accounts/${zoe.accountId}`, { token: ada.token })).status, 410)
      // Nothing is accepted from it, requested from it, or served to it.
      const before = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM inbound_activities`
      const asked = requests.length
      assert.strictEqual(yield* send(zoe, { type: "Create", object: note(zoe, "after") }), 403)
      const stranger = yield* there("stranger")
      assert.strictEqual(yield* send(stranger, { type: "Follow", object: yield* actorOf(ada) }), 403)
      assert.isUndefined(yield* accountOf(ada, "stranger"))
      assert.strictEqual(requests.length, asked)
      assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS n FROM inbound_activities`, before)
      assert.notInclude(yield* json(undefined, "/api/v1/instance/peers"), domain)
      assert.isAbove(documents.size, 0)

      assert.isTrue(yield* rule(({ unblock }) => unblock(domain)))
      const open = Effect.map(fetch(`/api/v1/accounts/${zoe.accountId}`, { token: ada.token }), ({ status }) => status)
      assert.strictEqual(yield* eventually(open, (status) => status === 200), 200)
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Follow", object: yield* actorOf(ada) }), "done")
      assert.isFalse(yield* rule(({ unblock }) => unblock(domain)))
    }))

  it.effect("silence keeps a domain out of public timelines and requires approval; moderators' own decisions remain", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* OtherServer
      const [cleo, dan] = [yield* newPerson("cleo"), yield* newPerson("dan")]
      const [yan, max] = [yield* befriend(cleo, "yan"), yield* befriend(cleo, "max")]
      yield* sql`UPDATE accounts SET silenced_at = '2026-01-01' WHERE id = ${BigInt(max.accountId)}`
      yield* deliverFrom(yan, { type: "Create", object: note(yan, "seen") })
      const everybody = Effect.map(
        json(dan, "/api/v1/timelines/public?remote=true"),
        (all: ReadonlyArray<{ content: string }>) => all.filter(({ content }) => content === "<p>seen</p>").length
      )
      assert.strictEqual(yield* everybody, 1)
      const { out } = yield* run(
        "domain",
        "block",
        `${domain.toUpperCase()}`,
        "--comment",
        "Spam",
        "--reject-reports",
        "--reject-media"
      )
      assert.include(out, `${domain}\tsilence\treject-media\treject-reports\t(Spam)`)
      assert.strictEqual(yield* eventually(everybody, (count) => count === 0), 0)
      assert.lengthOf(yield* json(cleo, "/api/v1/timelines/home"), 1)
      assert.isTrue((yield* json(dan, `/api/v1/accounts/${yan.accountId}`)).limited)
      assert.strictEqual(yield* deliverFrom(yan, { type: "Follow", object: yield* actorOf(dan) }), "done")
      assert.lengthOf(yield* json(dan, "/api/v1/follow_requests"), 1)
      // Accounts that appear later are silenced from the start.
      const late = yield* there("late")
      yield* deliverFrom(late, { type: "Follow", object: yield* actorOf(dan) })
      assert.lengthOf(yield* json(dan, "/api/v1/follow_requests"), 2)
      yield* rule(({ unblock }) => unblock(domain))
      assert.strictEqual(yield* eventually(everybody, (count) => count === 1), 1)
      const [moderated] = yield* sql`SELECT silenced_at IS NOT NULL AS silenced FROM accounts WHERE id = ${
        BigInt(max.accountId)
      }`
      assert.deepStrictEqual(moderated, { silenced: true })
    }))

  it.effect("reject_media shows and stores no files; noop does nothing", () =>
    Effect.gen(function*() {
      const { domain, url } = yield* OtherServer
      const eva = yield* newPerson("eva")
      const picture = { type: "Document", mediaType: "image/png", url: `${url}/a.png` }
      const icon = { type: "Image", url: `${url}/icon.png` }
      yield* OtherServer.use(({ actor }) => actor("pia", { icon }))
      const pia = { ...(yield* OtherServer.use(({ actor }) => actor("pia", { icon }))) }
      const { id } = yield* accountOf(eva, "pia")
      yield* json(eva, `/api/v1/accounts/${id}/follow`, undefined, "POST")
      const follow = { type: "Follow", actor: yield* actorOf(eva), object: pia.id }
      yield* deliverFrom(pia, { type: "Accept", object: follow })
      yield* deliverFrom(pia, { type: "Create", object: note(pia, "with", { attachment: [picture] }) })
      const shown = Effect.map(
        json(eva, "/api/v1/timelines/home"),
        ([first]) => [first.media_attachments.length, first.account.avatar.endsWith("missing.png")]
      )
      assert.deepStrictEqual(yield* shown, [1, false])
      yield* rule(({ block }) => block(domain, { severity: "noop" }))
      assert.deepStrictEqual(yield* shown, [1, false])
      yield* rule(({ block }) => block(domain, { rejectMedia: true }))
      assert.deepStrictEqual(yield* eventually(shown, ([files]) => files === 0), [0, true])
      yield* rule(({ unblock }) => unblock(domain))
      assert.deepStrictEqual(yield* eventually(shown, ([files]) => files === 1), [1, false])
    }))

  it.effect("S-228, row 64: the list of blocks is visible as the operator configures", () =>
    Effect.gen(function*() {
      const fay = yield* newPerson("fay")
      const { fetch } = yield* TestServer
      const status = (by?: Person) =>
        Effect.map(
          fetch("/api/v1/instance/domain_blocks", by === undefined ? {} : { token: by.token }),
          (response) => response.status
        )
      yield* run(
        "domain",
        "block",
        "very.evil.example",
        "--severity",
        "suspend",
        "--public-comment",
        "Lies",
        "--obfuscate"
      )
      yield* rule(({ block }) => block("loud.example", {}))
      yield* rule(({ block }) => block("plain.example", { severity: "noop" }))
      assert.deepStrictEqual([yield* status(), yield* status(fay)], [404, 404])
      yield* run("domain", "publish", "users")
      assert.deepStrictEqual([yield* status(), yield* status(fay)], [404, 200])
      yield* run("domain", "publish", "everybody", "--comments", "users")
      const blocks = (by?: Person) => json(by, "/api/v1/instance/domain_blocks")
      assert.deepStrictEqual(
        (yield* blocks(fay)).map((
          { comment, domain, severity }: Record<string, string>
        ) => [domain, severity, comment]),
        [["loud.example", "silence", null], ["very.****.***mple", "suspend", "Lies"]]
      )
      assert.notProperty((yield* blocks())[0], "comment")
      assert.match((yield* blocks())[0].digest, /^[0-9a-f]{64}$/)
      const listed = (yield* run("domain", "list")).out
      assert.match(
        listed,
        /^very\.evil\.example\tsuspend\tobfuscate\t"Lies"\nloud\.example\tsilence\nplain\.example\tnoop$/m
      )
      assert.strictEqual((yield* run("domain", "block", "not a domain")).code, 1)
    }))

  it.effect("S-212, D-032: a user's block of a domain hides it, ends follows both ways and counts them", () =>
    Effect.gen(function*() {
      const { domain } = yield* OtherServer
      const [gil, hal] = [yield* newPerson("gil"), yield* newPerson("hal")]
      const [kim, lou] = [yield* befriend(gil, "kim"), yield* befriend(hal, "lou")]
      yield* deliverFrom(kim, { type: "Create", object: note(kim, "hidden") })
      const body = { domain: domain.toUpperCase() }
      assert.deepStrictEqual(yield* json(gil, `/api/v1/domain_blocks/preview?domain=${domain}`), {
        following_count: 1,
        followers_count: 1
      })
      assert.deepStrictEqual(yield* json(gil, "/api/v1/domain_blocks", body), {})
      assert.isEmpty(yield* json(gil, "/api/v1/timelines/home"))
      assert.deepStrictEqual(yield* json(gil, "/api/v1/domain_blocks"), [domain])
      const [severed] = yield* eventually(
        json(gil, "/api/v1/notifications"),
        ([first]) => first?.type === "severed_relationships"
      )
      assert.deepInclude(severed.event, {
        type: "user_domain_block",
        target_name: domain,
        followers_count: 1,
        following_count: 1
      })
      assert.deepInclude((yield* json(gil, `/api/v1/accounts/relationships?id=${kim.accountId}`))[0], {
        following: false,
        followed_by: false,
        domain_blocking: true
      })
      assert.isTrue((yield* json(hal, `/api/v1/accounts/relationships?id=${lou.accountId}`))[0].following)
      yield* deliverFrom(kim, { type: "Follow", object: yield* actorOf(gil) })
      assert.lengthOf(yield* json(gil, "/api/v1/notifications"), 1)
      assert.deepStrictEqual(yield* json(gil, "/api/v1/domain_blocks", body, "DELETE"), {})
      assert.isEmpty(yield* json(gil, "/api/v1/domain_blocks"))
      assert.deepStrictEqual(yield* json(gil, "/api/v1/domain_blocks", { domain: "co.uk" }), {})
      for (const [given, error] of [["", "Domain can't be blank"], ["a/b", "Domain is not a valid domain name"]]) {
        assert.deepStrictEqual(yield* json(gil, "/api/v1/domain_blocks", { domain: given }), {
          error: `Validation failed: ${error}`
        })
      }
      yield* settled
    }))
})
