import { Clock, Effect, Random } from "effect"
import type { Command } from "../../src/actors/account/Protocol.ts"
import { type AccountId, StatusId } from "../../src/services/Ids.ts"
import { post } from "../support/Posts.ts"
import type { Node } from "./World.ts"

/** What a client knows of one command that it sent: the answer's id, an error's tag, or that it never heard. */
export interface Outcome {
  readonly account: AccountId
  readonly command: Command
  readonly key: string
  readonly result: { readonly id: string } | { readonly error: string } | "unknown"
}

/** How often a client sends a command again, with the same key, after an answer of 503. */
const attemptsMax = 12

const chance = <A>(choices: ReadonlyArray<readonly [weight: number, make: Effect.Effect<A>]>) =>
  Effect.flatMap(Random.nextIntBetween(0, choices.reduce((sum, [weight]) => sum + weight, 0), { halfOpen: true }), (drawn) => {
    let left = drawn
    return choices.find(([weight]) => (left -= weight) < 0)?.[1] ?? choices[0]![1]
  })

/** Clients of many accounts that post, follow, favourite, block and so on by chance, through whichever node answers. */
export const make = (accounts: ReadonlyArray<AccountId>, nodes: () => ReadonlyArray<Node>) => {
  const outcomes: Array<Outcome> = []
  const published: Array<{ readonly id: StatusId; readonly author: AccountId }> = []
  const pick = <A>(items: ReadonlyArray<A>) => Effect.map(Random.nextIntBetween(0, items.length, { halfOpen: true }), (at) => items[at]!)

  const draw = (account: AccountId, n: number): Effect.Effect<Command> => {
    const others = accounts.filter((other) => other !== account)
    const onOther = (make: (target: AccountId) => Command) => Effect.map(pick(others), make)
    const onStatus = (make: (statusId: StatusId) => Command) =>
      published.length === 0
        ? Effect.succeed<Command>({ _tag: "Publish", post: post(`first ${n}`) })
        : Effect.map(pick(published), ({ id }) => make(id))
    const onOwn = (make: (statusId: StatusId) => Command) =>
      Effect.suspend(() => {
        const own = published.filter(({ author }) => author === account)
        return own.length === 0
          ? Effect.succeed<Command>({ _tag: "Publish", post: post(`mine ${n}`) })
          : Effect.map(pick(own), ({ id }) => make(id))
      })
    return chance<Command>([
      [30, Effect.succeed({ _tag: "Publish", post: post(`post ${n}`) })],
      [10, onOther((target) => ({ _tag: "Publish", post: post(`hi @p${accounts.indexOf(target)} ${n}`) }))],
      [4, Effect.succeed({ _tag: "Publish", post: post(`quiet ${n}`, { visibility: "private" }) })],
      [4, onOther((target) => ({
        _tag: "Publish",
        post: post(`psst @p${accounts.indexOf(target)} ${n}`, { visibility: "direct" })
      }))],
      [6, onStatus((inReplyToId) => ({ _tag: "Publish", post: post(`re ${n}`, { inReplyToId }) }))],
      [8, onStatus((statusId) => ({ _tag: "Favourite", statusId }))],
      [3, onStatus((statusId) => ({ _tag: "Unfavourite", statusId }))],
      [8, onStatus((statusId) => ({ _tag: "Reblog", statusId, visibility: null }))],
      [3, onStatus((statusId) => ({ _tag: "Unreblog", statusId }))],
      [5, onOwn((statusId) => ({ _tag: "Delete", statusId }))],
      [4, onOwn((statusId) => ({
        _tag: "Edit",
        statusId,
        text: `edited ${n}`,
        spoilerText: "",
        sensitive: null,
        language: null
      }))],
      [8, onOther((target) => ({ _tag: "Follow", target, reblogs: null, notify: n % 3 === 0, languages: null }))],
      [4, onOther((target) => ({ _tag: "Unfollow", target }))],
      [2, onOther((target) => ({ _tag: "Block", target }))],
      [2, onOther((target) => ({ _tag: "Unblock", target }))],
      [2, onOther((target) => ({ _tag: "Mute", target, notifications: true, seconds: n % 2 === 0 ? 5 : 0 }))],
      [2, onOther((target) => ({ _tag: "Unmute", target }))]
    ])
  }

  /** One command of one client, sent until somebody answers. */
  const send = Effect.fnUntraced(function*(n: number) {
    yield* Effect.sleep(yield* Random.nextIntBetween(0, 6000))
    const account = yield* pick(accounts)
    const command = yield* draw(account, n)
    const key = `k${n}`
    let result: Outcome["result"] = "unknown"
    for (let attempt = 0; attempt < attemptsMax && result === "unknown"; attempt++) {
      const node = yield* pick(nodes())
      // The client's connection breaks with its node: no answer comes, whatever was done.
      result = yield* node.accounts.tell(account, command, key).pipe(
        Effect.map((answer): Outcome["result"] => node.peer.dead ? "unknown" : { id: answer.id }),
        Effect.catch((error) =>
          Effect.succeed<Outcome["result"]>(error._tag === "Unavailable" ? "unknown" : { error: error._tag })
        ),
        Effect.timeoutOrElse({ duration: "6 seconds", orElse: () => Effect.succeed<Outcome["result"]>("unknown") })
      )
      if (result === "unknown") yield* Effect.sleep(1000)
    }
    outcomes.push({ account, command, key, result })
    if (command._tag === "Publish" && typeof result === "object" && "id" in result) {
      published.push({ id: StatusId.make(BigInt(result.id)), author: account })
    }
    return yield* Clock.currentTimeMillis
  })
  return { send, outcomes }
}
