import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { Quotes } from "../../src/services/statuses/Quotes.ts"
import { manualQuotes, manualReplies, moderated, type Requests } from "./ConsentPlan.ts"
import type { Facts } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Performed } from "./Performed.ts"

type State = "pending" | "accepted" | "rejected" | "revoked"

interface Governed {
  readonly author: bigint
  readonly repliesNeedConsent: boolean
  quotes: "everybody" | "asks" | "nobody"
}

interface Reply {
  readonly by: bigint
  readonly approver: bigint
  state: State
  /** Time of acceptance, in milliseconds since 1970. */
  acceptedAt: number
}

interface Quote {
  readonly by: bigint
  readonly quoted: bigint
  readonly quotedAuthor: bigint
  /** True if consent was given at once. */
  readonly atOnce: boolean
  state: State
}

/** Replays the committed commands on plain maps: expected reply and quote permissions, and pending interactions. */
class Consents {
  readonly posts = new Map<bigint, Governed>()
  readonly replies = new Map<bigint, Reply>()
  readonly quotes = new Map<bigint, Quote>()
  readonly broken: Array<string> = []
  private readonly requests: Requests

  constructor(requests: Requests) {
    this.requests = requests
  }

  perform({ accountId: me, resultId, at }: Performed, command: Command) {
    switch (command._tag) {
      case "Publish":
        return this.publish(BigInt(resultId ?? 0), me, command)
      case "SetQuotePolicy": {
        const post = this.posts.get(command.statusId)
        if (post !== undefined) post.quotes = command.policy === "nobody" ? "nobody" : "everybody"
        return
      }
      case "RevokeQuote": {
        const quote = this.quotes.get(command.quotingId)
        if (quote !== undefined && quote.state !== "rejected") quote.state = "revoked"
        return
      }
      case "AuthorizeInteraction":
        return this.decide(command.requestId, "accepted", at.getTime())
      case "RejectInteraction":
        return this.decide(command.requestId, "rejected", at.getTime())
    }
  }

  private publish(id: bigint, author: bigint, { post }: Extract<Command, { readonly _tag: "Publish" }>) {
    const policy = post.interactionPolicy ?? []
    const quotes = post.quoteApprovalPolicy === "nobody" ? "nobody" : policy === manualQuotes ? "asks" : "everybody"
    this.posts.set(id, { author, repliesNeedConsent: policy === manualReplies, quotes })
    const parent = post.inReplyToId === null ? undefined : this.posts.get(post.inReplyToId)
    if (parent?.repliesNeedConsent === true && parent.author !== author) {
      this.replies.set(id, { by: author, approver: parent.author, state: "pending", acceptedAt: Infinity })
    }
    const quoted = post.quotedStatusId === null ? undefined : this.posts.get(post.quotedStatusId)
    if (post.quotedStatusId === null || quoted === undefined) return
    const isOwn = quoted.author === author
    if (quoted.quotes === "nobody" && !isOwn) {
      this.broken.push(`I26: ${id} quotes ${post.quotedStatusId}, which nobody may quote`)
    }
    const atOnce = isOwn || quoted.quotes === "everybody"
    this.quotes.set(id, {
      by: author,
      quoted: post.quotedStatusId,
      quotedAuthor: quoted.author,
      atOnce,
      state: atOnce ? "accepted" : "pending"
    })
  }

  private decide(requestId: bigint, to: "accepted" | "rejected", at: number) {
    const id = this.requests.ever.get(requestId)?.interactionId ?? requestId
    const reply = this.replies.get(id)
    const one = reply ?? this.quotes.get(id)
    if (one?.state !== "pending") this.broken.push(`I25: ${requestId} was decided, but was not pending`)
    else one.state = to
    if (reply !== undefined && to === "accepted") reply.acceptedAt = at
  }
}

/**
 * I25: a pending reply is visible only to its author and the account that decides, in rows, streams, feeds and
 * notifications; after acceptance it is visible to everybody. A refused reply is visible only to its author. I26:
 * quotes and their consent match the commands, and lists and notifications agree.
 */
export const check = Effect.fnUntraced(function*(
  aftermath: Aftermath,
  facts: Facts,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  const consents = new Consents(aftermath.requests)
  for (const entry of performed) {
    const command = entry.commandId === null ? undefined : commandOf.get(entry.commandId)
    if (command !== undefined) consents.perform(entry, command)
  }
  return [
    ...consents.broken,
    ...(yield* replies(aftermath, facts, consents)),
    ...(yield* quotes(aftermath, facts, consents))
  ]
})

const isThere = (facts: Facts, id: bigint) => facts.byId.get(id)?.deletedAt === null

const replies = Effect.fnUntraced(function*(
  { outcomes, people, shared: { sql }, world }: Aftermath,
  facts: Facts,
  { replies }: Consents
) {
  const broken: Array<string> = []
  const restricted = moderated(outcomes)
  const rows = yield* sql<{ id: bigint; state: State }>`
    SELECT interaction_id AS id, state FROM interaction_requests WHERE interaction_id IS NOT NULL`
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  for (const [id, { acceptedAt, approver, by, state }] of replies) {
    for (const { at, message } of world.busMessages) {
      if (message._tag === "StatusEvent" && message.statusId === id && at < acceptedAt) {
        broken.push(`I25: streams got the reply ${id}, which is ${state}`)
      }
    }
    if (!isThere(facts, id)) continue
    world.count(`reply ${state}`)
    if (states.get(id) !== state) {
      broken.push(`I25: the reply ${id} is ${states.get(id) ?? "without a request"}, not ${state}`)
    }
    const notified = facts.rows.notifications.filter((one) => one.statusId === id)
    const waits = notified.filter(({ accountId, type }) => type === "pending.reply" && accountId === approver).length
    const isExempt = restricted.has(by) || restricted.has(approver)
    if (waits > (state === "pending" ? 1 : 0) || (waits === 0 && state === "pending" && !isExempt)) {
      broken.push(`I25: the approver has ${waits} requests of ${id}, which is ${state}`)
    }
    if (state === "accepted") continue
    // The author may be notified: the deciding account sees the reply, and may like it.
    if (notified.filter(({ accountId }) => accountId !== by).length > waits) {
      broken.push(`I25: a notification of ${id}, which is ${state}`)
    }
    const readers = people.filter((viewer) => facts.canSee(viewer, id))
    const others = readers.filter((reader) => reader !== by && (reader !== approver || state !== "pending"))
    if (others.length > 0) broken.push(`I25: ${others} see the reply ${id}, which is ${state}`)
  }
  return broken
})

const quotes = Effect.fnUntraced(function*(
  { outcomes, people, shared: { sql }, world }: Aftermath,
  facts: Facts,
  { posts, quotes }: Consents
) {
  const broken: Array<string> = []
  const restricted = moderated(outcomes)
  const rows = yield* sql<{ statusId: bigint; state: State }>`SELECT status_id, state FROM quotes`
  const states = new Map(rows.map(({ state, statusId }) => [statusId, state]))
  for (const [id, { atOnce, by, quotedAuthor, state }] of quotes) {
    if (!isThere(facts, id)) continue
    world.count(`quote ${state}`)
    if (states.get(id) !== state) broken.push(`I26: the quote ${id} is ${states.get(id)}, not ${state}`)
    const notified = facts.rows.notifications.filter((one) => one.statusId === id && one.accountId === quotedAuthor)
    const isExempt = restricted.has(by) || restricted.has(quotedAuthor)
    const wanted = {
      quote: state === "accepted" && atOnce && by !== quotedAuthor ? 1 : 0,
      "pending.quote": state === "pending" ? 1 : 0
    }
    for (const [type, times] of Object.entries(wanted)) {
      const found = notified.filter((one) => one.type === type).length
      if (found > times || (found < times && !isExempt)) {
        broken.push(`I26: ${found} notifications of the ${type} ${id}, which is ${state}`)
      }
    }
  }
  const list = yield* Effect.provide(
    Quotes.use((service) =>
      Effect.succeed((viewer: typeof people[number], id: bigint) => service.page(viewer, id, { limit: 1000 }))
    ),
    Quotes.layer.pipe(Layer.provide(Broadcast.layerMemory))
  ).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  const viewer = people[world.seed % people.length]!
  for (const quoted of posts.keys()) {
    if (!isThere(facts, quoted)) continue
    const found = yield* list(viewer, quoted)
    const expected = [...quotes].filter(([id, quote]) =>
      quote.quoted === quoted && quote.state === "accepted" && facts.canSee(viewer, id)
    ).map(([id]) => id)
    if (String(found.toSorted()) !== String(expected.toSorted())) {
      broken.push(`I26: ${viewer} finds the quotes [${found}] of ${quoted}, not [${expected}]`)
    }
  }
  return broken
})
