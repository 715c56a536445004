import { Clock, Effect, Layer } from "effect"
import { type FeedEntry, Feeds } from "../../src/services/feeds/Feeds.ts"
import type { AccountId } from "../../src/services/Ids.ts"
import type { Answer } from "../../src/services/intents/Commands.ts"
import type { Mutation } from "./World.ts"

/** A bug put into the program on purpose, and the number of seeds, from 1 on, within which the simulation must find it. */
export interface Mutant {
  readonly name: string
  readonly mutation: Mutation
  readonly seedsMax: number
}

/** Feeds are written after the transaction with the cursor: a crash in between loses a slice. */
const cursorFirst: Mutant = {
  name: "the cursor is committed before the slice",
  mutation: {
    feeds: (feeds, sql) => ({ ...feeds, push: (accounts, entry) => sql.afterCommit(feeds.push(accounts, entry)) })
  },
  seedsMax: 40
}

/** The command's id is looked up before the transaction and recorded after it. */
const keyOutside: Mutant = {
  name: "the command's id is looked up and recorded outside of the transaction",
  mutation: {
    commands: (commands, sql) => ({
      ...commands,
      once: (owner, id, family, work) =>
        Effect.gen(function*() {
          const [found] = yield* sql<{ answer: Answer }>`
            SELECT answer FROM commands WHERE account_id = ${owner.accountId} AND id = ${id}`
          if (found !== undefined) return { answer: found.answer, repeated: true }
          const answer = yield* commands.owned(owner, work)
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
            VALUES (${owner.accountId}, ${id}, ${JSON.stringify(answer)}::jsonb, ${
            family ?? null
          }, ${owner.epoch}, ${now})`
          return { answer, repeated: false }
        })
    })
  },
  seedsMax: 40
}

/** A feed whose reader sorts, but leaves in what a repeated slice wrote twice. */
const listFeed: Mutant = {
  name: "a feed's insert is not a set",
  mutation: {
    store: Layer.sync(Feeds, () => {
      const lists = new Map<AccountId, { readonly entries: ReadonlyArray<FeedEntry>; readonly filled: boolean }>()
      const listOf = (account: AccountId) => lists.get(account) ?? { entries: [], filled: false }
      return Feeds.of({
        push: (accounts, entry) =>
          Effect.sync(() => {
            for (const account of accounts) {
              const { entries, filled } = listOf(account)
              lists.set(account, { entries: [...entries, entry], filled })
            }
          }),
        read: (account) =>
          Effect.sync(() => {
            const { entries, filled } = listOf(account)
            return filled ? entries.toSorted((a, b) => a.id < b.id ? 1 : -1) : undefined
          }),
        fill: (account, entries) =>
          Effect.sync(() => {
            const before = listOf(account).entries.filter(({ id }) => !entries.some((entry) => entry.id === id))
            lists.set(account, { entries: [...before, ...entries], filled: true })
          }),
        drop: (accounts) => Effect.sync(() => accounts.forEach((account) => lists.delete(account)))
      })
    })
  },
  seedsMax: 40
}

/** A node that lost an account goes on to write for it. */
const epochUnchecked: Mutant = {
  name: "the owner's epoch is not checked",
  mutation: {
    commands: (commands, sql) => ({
      ...commands,
      owned: (_owner, work) => sql.withTransaction(work),
      once: (owner, id, family, work) =>
        sql.withTransaction(Effect.gen(function*() {
          const [found] = yield* sql<{ answer: Answer }>`
            SELECT answer FROM commands WHERE account_id = ${owner.accountId} AND id = ${id}`
          if (found !== undefined) return { answer: found.answer, repeated: true }
          const answer = yield* work
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
            VALUES (${owner.accountId}, ${id}, ${JSON.stringify(answer)}::jsonb, ${
            family ?? null
          }, ${owner.epoch}, ${now})`
          return { answer, repeated: false }
        }))
    })
  },
  seedsMax: 40
}

export const mutants = [cursorFirst, keyOutside, listFeed, epochUnchecked]
