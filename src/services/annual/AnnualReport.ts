import { Schema } from "effect"

const Id = Schema.String
const NamedCount = Schema.Struct({ name: Schema.String, count: Schema.Int })
const AccountCount = Schema.Struct({ accountId: Id, count: Schema.Int })

/** Annual report of an account; ids are of accounts and statuses. */
export const ReportData = Schema.Struct({
  archetype: Schema.Literals(["lurker", "booster", "pollster", "replier", "oracle"]),
  typeDistribution: Schema.Struct({
    total: Schema.Int,
    reblogs: Schema.Int,
    replies: Schema.Int,
    standalone: Schema.Int
  }),
  topStatuses: Schema.Struct({
    byReblogs: Schema.NullOr(Id),
    byFavourites: Schema.NullOr(Id),
    byReplies: Schema.NullOr(Id)
  }),
  mostUsedApps: Schema.Array(NamedCount),
  topHashtags: Schema.Array(NamedCount),
  mostRebloggedAccounts: Schema.Array(AccountCount),
  commonlyInteractedWithAccounts: Schema.Array(AccountCount),
  /** Twelve months, in order. */
  timeSeries: Schema.Array(Schema.Struct({
    month: Schema.Int,
    statuses: Schema.Int,
    following: Schema.Int,
    followers: Schema.Int
  }))
})
export type ReportData = typeof ReportData.Type

/** Version of the shape in the API. */
export const reportVersion = 2

/** Returns the year for which reports are offered: the current one, in December; otherwise undefined. */
export const campaignOf = (millis: number): number | undefined => {
  const now = new Date(millis)
  return now.getUTCMonth() === 11 ? now.getUTCFullYear() : undefined
}
