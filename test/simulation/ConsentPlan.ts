import { Effect, Schedule } from "effect"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { type AccountId, StatusId } from "../../src/services/database/Ids.ts"
import { pollSecondsMin } from "../../src/services/instance/ContentLimits.ts"
import type { Post } from "../../src/services/statuses/Post.ts"
import { post } from "../support/Posts.ts"
import { rushMillis } from "./CommandPlan.ts"
import type { Known, Plan } from "./Scenario.ts"
import { Dice } from "./Seeded.ts"
import type { Shared } from "./World.ts"

/** Returns true for seeds about consent, polls and moderators, which also send real pushes. */
export const hasConsents = (seed: number) => new Dice(seed, "talk of the town").chance(0.25)

/** Start of the last commands, when the first polls end, in milliseconds after the first ones. */
export const pollEndMillis = pollSecondsMin * 1000

/** Number of first commands, which publish the posts that later commands refer to. */
const firstMax = 5

/** A pending reply or quote, as the deciding account sees it. */
export interface PendingRequest {
  readonly requestId: bigint
  readonly target: AccountId
  /** The reply or the quoting post. */
  readonly interactionId: bigint
}

/** Currently pending requests, and all that ever were, by request id. */
export interface Requests {
  now: ReadonlyArray<PendingRequest>
  readonly ever: Map<bigint, PendingRequest>
}
export const none = (): Requests => ({ now: [], ever: new Map() })

/** Loads the pending requests. */
export const watchRequests = (requests: Requests, { sql }: Shared) =>
  Effect.gen(function*() {
    const rows = yield* sql<PendingRequest>`
      SELECT id AS request_id, target_account_id AS target, interaction_id FROM interaction_requests WHERE state = 'pending'
      UNION ALL SELECT status_id, quoted_account_id, status_id FROM quotes WHERE state = 'pending' ORDER BY 1`
    requests.now = rows
    for (const asked of requests.now) requests.ever.set(asked.requestId, asked)
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("1 second")))

/** Interaction policies of posts, in the client API's words. */
export const manualReplies = ["canReply", "canReply:manual:public"]
export const manualQuotes = ["canQuote", "canQuote:manual:public"]

const waits: Plan["waits"] = (dice, n) =>
  n < firstMax ? dice.between(0, 200) : dice.between(500, rushMillis) + (n % 4 === 0 ? pollEndMillis : 0)

/**
 * Plans people who reply to and quote one another, decide about requests, create polls and vote, while moderators
 * restrict some of them.
 */
export const make = (requests: Requests) => ({ accounts, outcomes, published, world }: Known): Plan => {
  const mix = new Dice(world.seed, "talk")
  const share = () => mix.pick([0.3, 1, 2])
  const [replies, quotes, votes, moderators] = [share(), share(), share(), mix.pick([0, 0.5, 1])]

  const draw: Plan["draw"] = (dice, account, n) => {
    const publish = (text: string, more?: Parameters<typeof post>[1]): Command => ({
      _tag: "Publish",
      post: post(text, more)
    })
    const poll = { options: ["x", "y", "z"], seconds: pollSecondsMin, multiple: false, hideTotals: false }
    const governed = [
      publish(`ask me ${n}`, { interactionPolicy: manualReplies }),
      publish(`quote me if I say so ${n}`, { interactionPolicy: manualQuotes }),
      publish(`what? ${n}`, { poll }),
      publish(`do not quote me ${n}`, { quoteApprovalPolicy: "nobody" })
    ]
    if (n < firstMax) return governed[n] ?? publish(`post ${n}`)
    const statusId = published.length === 0 ? StatusId.make(0n) : dice.pick(published).id
    const target = dice.pick(accounts.filter((other) => other !== account))
    const own = published.filter(({ author }) => author === account).map(({ id }) => id)
    const mine = { statusId: own.length === 0 ? StatusId.make(0n) : dice.pick(own) }
    const onOwn = own.length === 0 ? 0 : 1
    const asked = requests.now.filter((one) => one.target === account)
    const request = { requestId: asked.length === 0 ? 0n : dice.pick(asked).requestId }
    const onRequest = asked.length === 0 ? 0 : 1
    const quoting = outcomes.flatMap(({ command, result }) => {
      const quoted = command._tag === "Publish" ? command.post.quotedStatusId : null
      const isMine = quoted !== null && own.includes(quoted) && typeof result === "object" && "id" in result
      return isMine ? { statusId: quoted, quotingId: StatusId.make(BigInt(result.id)) } : []
    })
    const revoked = quoting.length === 0 ? { ...mine, quotingId: StatusId.make(0n) } : dice.pick(quoting)
    const postsWhere = (is: (post: Post) => boolean) =>
      outcomes.flatMap(({ command, result }) =>
        command._tag === "Publish" && is(command.post) && typeof result === "object" && "id" in result
          ? StatusId.make(BigInt(result.id))
          : []
      )
    const polls = postsWhere(({ poll }) => poll !== null)
    const someOf = (ids: ReadonlyArray<StatusId>) => ids.length > 0 && dice.chance(0.6) ? dice.pick(ids) : statusId
    const inReplyToId = someOf(postsWhere(({ interactionPolicy }) => interactionPolicy === manualReplies))
    const quotedStatusId = someOf(postsWhere(({ interactionPolicy }) => interactionPolicy === manualQuotes))
    const lastModeration = outcomes.findLast((one) => one.account === account && one.command._tag === "Moderate")
    const wasSuspended = lastModeration?.command._tag === "Moderate" && lastModeration.command.stands
    const mention = dice.chance(0.3) ? ` @p${accounts.indexOf(target)}` : ""
    return dice.weighted<Command>([
      [6, dice.pick(governed)],
      [4, publish(`hi @p${accounts.indexOf(target)} ${n}`)],
      [14 * replies, publish(`re ${n}${mention}`, { inReplyToId })],
      [12 * quotes, publish(`look ${n}`, { quotedStatusId })],
      [16 * onRequest, { _tag: "AuthorizeInteraction", ...request }],
      [7 * onRequest, { _tag: "RejectInteraction", ...request }],
      [quoting.length === 0 ? 0 : 6, { _tag: "RevokeQuote", ...revoked }],
      [3 * quotes * onOwn, { _tag: "SetQuotePolicy", ...mine, policy: dice.pick(["public", "nobody"] as const) }],
      [polls.length === 0 ? 0 : 16 * votes, { _tag: "Vote", statusId: someOf(polls), choices: [dice.between(0, 3)] }],
      [2 * onOwn, { _tag: "Delete", ...mine }],
      [3, { _tag: "Favourite", statusId }],
      [(wasSuspended ? 16 : 5) * moderators, { _tag: "Moderate", measure: "suspend", stands: !wasSuspended }]
    ])
  }

  return {
    waits,
    who: (dice, n) => {
      if (n < firstMax) return accounts[n]!
      return requests.now.length > 0 && dice.chance(0.4) ? dice.pick(requests.now).target : dice.pick(accounts)
    },
    draw
  }
}

/** Returns the accounts that moderators acted on. */
export const moderated = (outcomes: ReadonlyArray<{ readonly account: AccountId; readonly command: Command }>) =>
  new Set<bigint>(outcomes.flatMap(({ account, command }) => command._tag === "Moderate" ? account : []))
