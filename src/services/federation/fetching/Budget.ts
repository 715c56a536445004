import { Context } from "effect"

/** What one reason to fetch may cost in all, however long the chains are that others make up (row 34). */
export interface Budget {
  /** Posts that are asked for. */
  statuses: number
  /** Accounts that are met for the first time. */
  accounts: number
  /** Pages of collections. */
  pages: number
}

interface Limits extends Readonly<Budget> {
  readonly pagesPerCollection: number
  /** Replies that are taken for a new post, and where somebody reads the conversation. */
  readonly repliesOfNew: number
  readonly repliesOfRead: number
}

/** What fetching may cost (federation.md section 4, safety row 34); tests have smaller ones, so that few posts are enough. */
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

/** Takes one from what is left; false where nothing is. */
export const spend = (budget: Budget, what: keyof Budget): boolean => budget[what] > 0 && budget[what]-- > 0
