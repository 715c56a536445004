import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { emptyPlan, firstImportCursor } from "../../src/services/transfers/archives/ArchiveImport.ts"
import { ArchiveRequests } from "../../src/services/transfers/archives/ArchiveRequests.ts"
import { insertItems } from "../../src/services/transfers/archives/StagedRows.ts"
import { FileImports } from "../../src/services/transfers/FileImports.ts"
import type { ListKind } from "../../src/services/transfers/Transfer.ts"
import { Transfers } from "../../src/services/transfers/Transfers.ts"
import { config } from "../support/Actors.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

/** Returns true for seeds in which accounts import lists and old posts. */
export const hasTransfers = (seed: number) => new Dice(seed, "imports").chance(0.2)

/** Transfers that a run begins while clients send commands, and the time in which they begin, in milliseconds. */
const begunMax = 8
const beginMillis = 5_000
/** Posts of an archive: up to three steps. */
const postsMax = 45
/** Pause between two looks at the transfers, in milliseconds, and looks after which a transfer counts as stuck. */
const lookMillis = 2_000
const looksMax = 400
/** Share of finished imports of posts that are undone. */
const undoneShare = 0.5

/** A transfer that an account began and confirmed. */
export type Begun =
  & { readonly id: bigint; readonly owner: AccountId }
  & (
    | { readonly kind: ListKind; readonly names: ReadonlyArray<string>; readonly overwrite: boolean }
    | { readonly kind: "archive_in"; readonly uris: ReadonlyArray<string> }
    | { readonly kind: "archive_undo"; readonly importId: bigint }
  )

const domains = Array.from({ length: 40 }, (_, n) => `d${n}.example`)
const some = <A>(dice: Dice, items: ReadonlyArray<A>) => items.filter(() => dice.chance(0.6))

const activityOf = (actor: string, n: number) => ({
  id: `${actor}/${n}/activity`,
  type: "Create",
  actor,
  object: {
    id: `${actor}/${n}`,
    type: "Note",
    published: new Date(Date.UTC(2019, 0, 1, 0, n)).toISOString(),
    attributedTo: actor,
    to: ["https://www.w3.org/ns/activitystreams#Public"],
    ...(n % 3 === 1 && { inReplyTo: `${actor}/${n - 1}` }),
    content: `<p>old ${n}</p>`
  }
})

/** Starts imports of the accounts, which confirm their plans; undoes some, and waits until all have ended. */
export const importRepeatedly = Effect.fnUntraced(
  function*(world: World, { sql }: Shared, people: ReadonlyArray<AccountId>) {
    const dice = new Dice(world.seed, "transfers")
    const context = yield* Layer.build(
      Layer.fresh(Layer.merge(FileImports.layer, ArchiveRequests.layer)).pipe(
        Layer.provide([config, Layer.succeed(SqlClient.SqlClient, sql)])
      )
    )
    const [archives, files] = [Context.get(context, ArchiveRequests), Context.get(context, FileImports)]
    const transfers = Context.get(context, Transfers)

    const beginList = Effect.fnUntraced(function*(owner: AccountId) {
      const kind = dice.pick(["domain_blocks", "domain_blocks", "follows", "follows", "blocks", "mutes"] as const)
      const overwrite = kind === "domain_blocks" && dice.chance(0.3)
      const names = kind === "domain_blocks"
        ? some(dice, domains)
        : [...people.flatMap((_, n) => dice.chance(0.5) ? `p${n}@here.test` : []), "nobody@here.test"]
      const bytes = new TextEncoder().encode(names.join("\n"))
      const { id } = yield* files.begin(owner, { bytes, fileName: "", kind, overwrite, follow: false })
      world.transfers.begun.push({ id, owner, kind, names, overwrite })
      yield* transfers.confirm(owner, id)
    })

    /** Stages an archive as if it were read: reading files is not simulated. */
    const beginPosts = Effect.fnUntraced(function*(owner: AccountId) {
      const actor = `https://old.test/p${people.indexOf(owner)}`
      const numbers = some(dice, Array.from({ length: postsMax }, (_, n) => n))
      const rows = numbers.map((n) => {
        const activity = activityOf(actor, n)
        return { publishedAt: new Date(activity.object.published), place: n, activity: JSON.stringify(activity) }
      })
      const cursor = JSON.stringify({ ...firstImportCursor, phase: "plan" })
      const options = {
        fileName: "",
        bytes: 0,
        owner: { uri: actor, followersUrl: null },
        plan: emptyPlan,
        confirmed: false
      }
      const { id } = yield* transfers.begin(
        owner,
        { kind: "archive_in", options, total: 0, failed: 0, unconfirmed: false },
        (id) =>
          Effect.andThen(
            insertItems(sql, id, rows),
            sql`UPDATE transfers SET cursor = ${cursor}::jsonb WHERE id = ${id}`
          )
      )
      world.transfers.begun.push({ id, owner, kind: "archive_in", uris: numbers.map((n) => `${actor}/${n}`) })
    })

    /** Waits until all transfers have ended, and confirms those of posts. */
    const ended = Effect.gen(function*() {
      for (let look = 0; look < looksMax; look++) {
        yield* Effect.sleep(lookMillis)
        const open = yield* sql<{ id: bigint; accountId: AccountId; state: string }>`SELECT id, account_id, state
          FROM transfers WHERE state IN ('unconfirmed', 'scheduled', 'in_progress') ORDER BY id`
        if (open.length === 0) return
        for (const { accountId, id, state } of open) {
          if (state === "unconfirmed") yield* archives.confirm(accountId, id)
        }
      }
    })

    const times = Array.from({ length: begunMax }, () => dice.between(0, beginMillis)).toSorted((a, b) => a - b)
    for (const [n, time] of times.entries()) {
      yield* Effect.sleep(time - (times[n - 1] ?? 0))
      yield* Effect.ignoreCause((dice.chance(0.4) ? beginPosts : beginList)(dice.pick(people)))
    }
    yield* ended
    for (const { id, kind, owner } of world.transfers.begun.filter(({ kind }) => kind === "archive_in")) {
      if (!dice.chance(undoneShare)) continue
      const undo = yield* archives.undo(owner, id)
      world.transfers.begun.push({ id: undo.id, owner, kind: "archive_undo", importId: id })
      world.count(`undo of ${kind}`)
    }
    yield* ended
  },
  Effect.scoped
)
