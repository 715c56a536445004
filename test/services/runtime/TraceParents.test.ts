import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Cards } from "../../../src/services/cards/Cards.ts"
import { StatusCards } from "../../../src/services/cards/StatusCards.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Emails } from "../../../src/services/emails/Emails.ts"
import { Mailer } from "../../../src/services/emails/Mailer.ts"
import { PromisedEmails } from "../../../src/services/emails/PromisedEmails.ts"
import { InboundActivities } from "../../../src/services/federation/inbox/InboundActivities.ts"
import { NotificationWriter } from "../../../src/services/feeds/NotificationWriter.ts"
import { Fanouts } from "../../../src/services/intents/Fanouts.ts"
import { Jobs } from "../../../src/services/intents/Jobs.ts"
import { OperatorCommands } from "../../../src/services/intents/OperatorCommands.ts"
import { Pushes } from "../../../src/services/intents/Pushes.ts"
import { continued, currentTraceParent } from "../../../src/services/runtime/TraceParents.ts"
import { user } from "../../support/SignedIn.ts"
import { services } from "../../support/WebServer.ts"

const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"]

const inSpan = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.useSpan("act", (act) => Effect.map(Effect.withParentSpan(work, act), (result) => ({ act, result })))
const untraced = Effect.provideService(References.TracerEnabled, false)

describe("the work of a row", () => {
  const ofWork = (parent: string | null) => Effect.currentSpan.pipe(continued("Work.run", parent))

  it.effect("continues the trace of the row, and not that of the span that runs it", () =>
    Effect.gen(function*() {
      const found = yield* ofWork(`00-${trace}-${span}-01`).pipe(Effect.withSpan("other"))
      assert.strictEqual(found.traceId, trace)
      assert.strictEqual(found.sampled, true)
      assert.strictEqual(found.parent._tag === "Some" ? found.parent.value.spanId : "", span)
    }))

  it.effect("is not sampled if the span that wrote the row was not", () =>
    Effect.map(ofWork(`00-${trace}-${span}-00`), ({ sampled }) => assert.isFalse(sampled)))

  for (const parent of [null, "", `00-${trace}-${span}`, `00-${"0".repeat(32)}-${span}-01`, `01-${trace}-${span}-01`]) {
    it.effect(`starts a trace if the row has ${parent}`, () =>
      Effect.map(
        ofWork(parent).pipe(Effect.withSpan("other")),
        (found) => assert.strictEqual(found.parent._tag, "None")
      ))
  }

  it.effect("has no span without tracing, and rows store none", () =>
    Effect.gen(function*() {
      const found = yield* Effect.option(ofWork(`00-${trace}-${span}-01`))
      assert.strictEqual(found._tag, "None")
      assert.isNull(yield* currentTraceParent.pipe(Effect.withSpan("act")))
    }).pipe(untraced))
})

const Live = Layer.mergeAll(
  Cards.layer,
  Fanouts.layer,
  InboundActivities.layer,
  Jobs.layer,
  NotificationWriter.layer,
  OperatorCommands.layer,
  PromisedEmails.layer,
  Pushes.layer,
  StatusCards.layer
).pipe(Layer.provideMerge(services))

layer(Live, { excludeTestServices: true })("rows of durable work", (it) => {
  it.effect("F280: store the span that wrote them, and nothing without tracing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accountId = AccountId.make(yield* user("anna"))
      const fanouts = yield* Fanouts
      const jobs = yield* Jobs
      const inbound = yield* InboundActivities
      const emails = yield* PromisedEmails
      const commands = yield* OperatorCommands
      const activity = { uri: "https://there.example/1", document: "{}", signedMillis: 1, repeats: false }
      const cards = yield* StatusCards
      const [{ id: statusId } = { id: 0n }] = yield* sql<{ id: bigint }>`
        INSERT INTO statuses (id, account_id, visibility, local, text, html, conversation_id, created_at)
        VALUES (1, ${accountId}, 'public', true, '', '', 1, now()) RETURNING id`
      const link = { url: "https://a.example/", pageUrl: "https://a.example/", pageKey: "a", site: "a.example" }
      const rows = {
        fanouts: [
          fanouts.enqueue(accountId, { _tag: "kept_out" }),
          Effect.map(fanouts.claim(accountId), ([row]) => row)
        ],
        preview_cards: [
          cards.attach(statusId, link, false),
          Effect.map(Effect.flatMap(Cards, ({ claim }) => claim(1)), ([row]) => row)
        ],
        errands: [jobs.enqueue("profile", accountId), Effect.map(jobs.claim(1), ([row]) => row)],
        inbound_activities: [
          inbound.enqueue(accountId, activity),
          Effect.map(inbound.claim(accountId), ({ waiting: [row] }) => row)
        ],
        promised_emails: [emails.promise("welcome", accountId), Effect.map(emails.claim(1), ([row]) => row)],
        account_intents: [
          commands.enqueue(accountId, "Note", "{}"),
          Effect.map(commands.claim(accountId), ([row]) => row)
        ]
      } as const
      for (const [table, [write, claim]] of Object.entries(rows)) {
        const { act } = yield* inSpan(Effect.asVoid(write))
        assert.strictEqual((yield* claim)?.traceParent?.split("-")[1], act.traceId, table)
        yield* sql`DELETE FROM ${sql(table)}`
        yield* untraced(Effect.asVoid(write))
        const row = yield* claim
        assert.isNull(row?.traceParent, table)
        yield* sql`DELETE FROM ${sql(table)}`
      }
    }))

  it.effect("F280: an e-mail that a request queued in the process is sent in the request's trace", () =>
    Effect.gen(function*() {
      const sent = yield* Deferred.make<string>()
      const mailer = Layer.succeed(Mailer, {
        send: () =>
          Effect.asVoid(Effect.flatMap(Effect.orDie(Effect.currentSpan), (own) => Deferred.succeed(sent, own.traceId)))
      })
      const emails = Context.get(yield* Layer.build(Layer.fresh(Emails.layer).pipe(Layer.provide(mailer))), Emails)
      const { act } = yield* inSpan(emails.enqueue(Effect.succeed({ to: "a@here.example", subject: "", text: "" })))
      assert.strictEqual(yield* Deferred.await(sent), act.traceId)
    }))

  it.effect("F280: pushes of notifications that share a statement continue their own traces", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date()
      const writer = yield* NotificationWriter
      const ben = AccountId.make(yield* user("ben"))
      const followed = [AccountId.make(yield* user("ada")), AccountId.make(yield* user("cleo"))]
      yield* sql`UPDATE actors SET epoch = 1 WHERE account_id = ${ben}`
      for (const [at, to] of followed.entries()) {
        yield* sql`INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, created_at)
          VALUES (${at}, ${`x${at}`}, ${to}, 'push', ${now})`
        yield* sql`INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy, alerts,
            sealed_token, created_at)
          VALUES (${at}, ${to}, '', '', '', true, 'all', '{"follow": true}', '', ${now})`
        yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (${at}, ${ben}, ${to}, ${now})`
        yield* sql`INSERT INTO fanouts (id, account_id, kind, created_at) VALUES (${at}, ${ben}, 'notify', ${now})`
      }
      const notified = yield* Effect.forEach(followed, (to, at) =>
        inSpan(
          writer.notifyAndComplete(ben, { type: "follow", to }, {
            id: BigInt(at),
            owner: { accountId: ben, epoch: 1n }
          })
        ), { concurrency: "unbounded" })
      assert.deepStrictEqual(notified.map(({ result }) => result), [true, true])
      const pushes = yield* sql<{ traceParent: string }>`SELECT p.trace_parent FROM pushes p
        JOIN push_subscriptions s ON s.id = p.subscription_id ORDER BY s.token_id`
      assert.deepStrictEqual(
        pushes.map(({ traceParent }) => traceParent.split("-")[1]),
        notified.map(({ act }) => act.traceId)
      )
    }))
})
