import { Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { serverConfig } from "../layers/Environment.ts"
import type { AccountId } from "../services/database/Ids.ts"
import { traced } from "../services/runtime/Traced.ts"
import { type FollowerSelection, MoveFollowers, type MoveOverview } from "../services/social/MoveFollowers.ts"
import { withExamples } from "./Examples.ts"
import { findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

const services = MoveFollowers.layer.pipe(Layer.provideMerge(serverConfig), Layer.provideMerge(Operator.layer))

/** Rows of one read. */
const pageRows = 1_000

/** Returns the handles of a list; `recordedFollowersMax` bounds them. */
const handlesOf = Effect.fnUntraced(function*(viewer: AccountId, selection: FollowerSelection) {
  const moveFollowers = yield* MoveFollowers
  const handles: Array<string> = []
  let maxId: bigint | undefined
  for (;;) {
    const rows = yield* moveFollowers.page(viewer, selection, { maxId, limit: pageRows })
    handles.push(...rows.map(({ acct }) => acct))
    maxId = rows.at(-1)?.cursor
    if (rows.length < pageRows) return handles
  }
})

const titleOf = ({ came, movedAt, other, own, stayed, targetUri }: MoveOverview) => {
  const figures = came === null || stayed === null ? "followers not recorded" : `${came} came, ${stayed} did not`
  return `Move ${own ? "to" : "from"} ${other ?? targetUri} at ${movedAt.toISOString()}: ${figures}`
}

/** Prints the moves from and to a local account, with their followers; of moves to it, only those that came. */
export const moveFollowers = Command.make(
  "move-followers",
  { name: Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain")), json },
  traced("account move-followers")(function*(given) {
    const { accountId } = yield* findUser(given.name)
    const overviews = yield* (yield* MoveFollowers).overview(accountId)
    const moves = yield* Effect.forEach(overviews, (move) =>
      Effect.gen(function*() {
        const came = yield* handlesOf(accountId, { from: move.accountId, came: true })
        const stayed = yield* handlesOf(accountId, { from: move.accountId, came: false })
        return { move, came, stayed }
      }))
    yield* printList(
      given.json,
      moves.map(({ came, move: { movedAt, other, own, targetUri }, stayed }) => ({
        ...(own ? { movedTo: other ?? targetUri } : { movedFrom: other }),
        movedAt,
        came,
        stayed
      })),
      moves.flatMap(({ came, move, stayed }) =>
        [titleOf(move)].concat(
          came.map((handle) => `  came: ${handle}`),
          stayed.map((handle) => `  did not come: ${handle}`)
        )
      ),
      "This account has not moved, and no account has moved to it."
    )
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription(
    "Lists the followers that came along with a move from or to an account, and those that did not"
  ),
  withExamples(["ada", "Lists the followers of ada's move"], ["ada --json", "The same for a script"])
)
