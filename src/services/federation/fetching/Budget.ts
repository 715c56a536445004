import { Context } from "effect"

/** Total cost that one fetch may cause, however long the chains that other servers make up (row 34). */
export interface Budget {
  /** Posts to fetch. */
  statuses: number
  /** New accounts to fetch. */
  accounts: number
  /** Pages of collections to fetch. */
  pages: number
}

interface Limits extends Readonly<Budget> {
  readonly pagesPerCollection: number
  /** Maximum replies fetched for a new post, and when a conversation is read. */
  readonly repliesOfNew: number
  readonly repliesOfRead: number
}

/** Limits of fetching (federation.md section 4, safety row 34); tests use smaller ones, so that a few posts suffice. */
export const FetchLimits = Context.Reference<Limits>("murmuration/services/federation/fetching/FetchLimits", {
  defaultValue: () => ({
    statuses: 1_000,
    accounts: 400,
    pages: 500,
    pagesPerCollection: 10,
    repliesOfNew: 5,
    repliesOfRead: 500
  })
})

export const begin = ({ accounts, pages, statuses }: Limits): Budget => ({ statuses, accounts, pages })

/** Spends one unit; false if none is left. */
export const spend = (budget: Budget, resource: keyof Budget): boolean => budget[resource] > 0 && budget[resource]-- > 0
