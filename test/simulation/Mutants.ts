import { Clock, Effect } from "effect"
import type { FeedEntry } from "../../src/services/feeds/Feeds.ts"
import type { AccountId } from "../../src/services/Ids.ts"
import type { Answer } from "../../src/services/intents/Commands.ts"
import type { Mutation } from "./World.ts"

/** A bug put into the program on purpose, and the number of seeds, from 1 on, within which the simulation must find it. */
export interface Mutant {
  readonly name: string
  readonly mutation: Mutation
  readonly seedsMax: number
  /** The seed that found it last, which is tried first. */
  readonly foundAt: number
}

/** Feeds are written after the transaction with the cursor: a crash in between loses a slice. */
const cursorFirst: Mutant = {
  name: "the cursor is committed before the slice",
  mutation: {
    feeds: (feeds, sql) => ({ ...feeds, push: (accounts, entry) => sql.afterCommit(feeds.push(accounts, entry)) })
  },
  foundAt: 3,
  seedsMax: 30
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
  foundAt: 1,
  seedsMax: 30
}

/** A feed's reader leaves in what a repeated slice wrote twice. */
const listFeed: Mutant = {
  name: "a feed's insert is not a set",
  mutation: {
    store: (feeds) => {
      const pushed = new Map<AccountId, ReadonlyArray<FeedEntry>>()
      const forget = (account: AccountId) => pushed.delete(account)
      return {
        ...feeds,
        push: (accounts, entry) => {
          for (const account of accounts) pushed.set(account, [...(pushed.get(account) ?? []), entry])
          return feeds.push(accounts, entry)
        },
        read: (account) =>
          Effect.map(feeds.read(account), (found) => {
            const written = pushed.get(account) ?? []
            const again = written.filter(({ id }, at) => written.findIndex((entry) => entry.id === id) < at)
            return found && [...found, ...again].toSorted((a, b) => a.id < b.id ? 1 : -1)
          }),
        drop: (accounts) => Effect.tap(feeds.drop(accounts), Effect.sync(() => accounts.forEach(forget)))
      }
    }
  },
  foundAt: 3,
  seedsMax: 30
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
  foundAt: 5,
  seedsMax: 30
}

/** What a node that died left behind is nobody's. */
const jobForgotten: Mutant = {
  name: "a media job that was left behind is not woken",
  mutation: { processings: (processings) => ({ ...processings, stale: () => Effect.succeed([]) }) },
  foundAt: 21,
  seedsMax: 30
}

/** A crash in between leaves a file of which no row tells. */
const fileFirst: Mutant = {
  name: "a file is stored a second before its row is there",
  mutation: {
    storedFiles: (files, storage, sql) => {
      let kept = 0
      return {
        ...files,
        keep: (extension, path, bytes) =>
          Effect.gen(function*() {
            const at = yield* Clock.currentTimeMillis
            const name = `mu/mutant-${at}-${kept++}.${extension}`
            yield* storage.writeFile(name, path)
            yield* Effect.sleep("1 second")
            yield* sql`INSERT INTO stored_files (name, bytes, created_at) VALUES (${name}, ${bytes}, ${new Date(at)})`
            return name
          })
      }
    }
  },
  foundAt: 21,
  seedsMax: 30
}

/** What was checked before the other's commit counts after it, as where nobody holds the pair. */
const blockRaced: Mutant = {
  name: "a follow is checked before the newest block is committed",
  mutation: {
    sql: (text) =>
      text.replace(
        "EXISTS (SELECT FROM blocks b WHERE (b.account_id = a.id",
        "EXISTS (SELECT FROM (SELECT * FROM blocks WHERE id < (SELECT max(id) FROM blocks)) b WHERE (b.account_id = a.id"
      )
  },
  foundAt: 1,
  seedsMax: 30
}

export const mutants = [cursorFirst, keyOutside, listFeed, epochUnchecked, jobForgotten, fileFirst, blockRaced]
