import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../services/database/Ids.ts"
import { FollowActivities } from "../../../services/federation/outbox/FollowActivities.ts"
import { feedsOf } from "../../../services/feeds/FeedKeys.ts"
import { Feeds } from "../../../services/feeds/Feeds.ts"
import { exceeds, noteCharactersMax, tooLong } from "../../../services/html/Text.ts"
import { mayOfferEmails } from "../../../services/identity/EmailOffers.ts"
import type { ProfileChange } from "../../../services/identity/ProfileChange.ts"
import { Profiles } from "../../../services/identity/Profiles.ts"
import * as TimeZones from "../../../services/identity/TimeZones.ts"
import {
  attributionDomainCharactersMax,
  attributionDomainsMax,
  displayNameCharactersMax,
  noteBytesMax,
  pictureDescriptionCharactersMax,
  profileFieldCharactersMax,
  profileFieldsMax
} from "../../../services/instance/ContentLimits.ts"
import { languagesMax, languageTag } from "../../../services/instance/Languages.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Jobs } from "../../../services/intents/Jobs.ts"
import { NotAllowed, Unprocessable } from "../../../services/runtime/Errors.ts"
import { Follows } from "../../../services/social/Follows.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"

type Problem = readonly [field: string, error: string, description: string]

const problemsOf = (change: ProfileChange): ReadonlyArray<Problem> => {
  const fields = change.fields ?? []
  const tooLongText = (text: string | undefined, max: number) => text !== undefined && exceeds(text, max)
  const long = (
    field: string,
    max: number
  ): Problem => [field, "ERR_TOO_LONG", `is too long (maximum is ${max} characters)`]
  const rules: ReadonlyArray<readonly [broken: boolean, problem: Problem]> = [
    [tooLongText(change.displayName, displayNameCharactersMax), long("display_name", displayNameCharactersMax)],
    [
      tooLongText(change.avatarDescription, pictureDescriptionCharactersMax),
      long("avatar_description", pictureDescriptionCharactersMax)
    ],
    [
      tooLongText(change.headerDescription, pictureDescriptionCharactersMax),
      long("header_description", pictureDescriptionCharactersMax)
    ],
    [
      change.note !== undefined &&
      (Buffer.byteLength(change.note) > noteBytesMax || tooLong(change.note, "", noteCharactersMax)),
      ["note", "ERR_TOO_LONG", `character limit of ${noteCharactersMax} exceeded`]
    ],
    [
      fields.length > profileFieldsMax,
      ["fields", "ERR_INVALID", `must have at most ${profileFieldsMax} entries`]
    ],
    [
      fields.some(({ name, value }) => name === "" && value !== ""),
      ["fields", "ERR_INVALID", "must not have a value without a name"]
    ],
    [
      fields.some(({ name, value }) =>
        tooLongText(name, profileFieldCharactersMax) || tooLongText(value, profileFieldCharactersMax)
      ),
      long("fields", profileFieldCharactersMax)
    ],
    [
      (change.chosenLanguages?.length ?? 0) > languagesMax,
      ["chosen_languages", "ERR_TOO_LONG", `must have at most ${languagesMax} entries`]
    ],
    [
      (change.chosenLanguages ?? []).some((language) => languageTag(language) === undefined),
      ["chosen_languages", "ERR_INCLUSION", "is not included in the list"]
    ],
    [
      typeof change.locale === "string" && languageTag(change.locale) === undefined,
      ["locale", "ERR_INCLUSION", "is not included in the list"]
    ],
    [
      typeof change.timeZone === "string" && TimeZones.isKnown(change.timeZone) === undefined,
      ["time_zone", "ERR_INCLUSION", "is not included in the list"]
    ],
    [
      (change.attributionDomains?.length ?? 0) > attributionDomainsMax,
      ["attribution_domains", "ERR_TOO_LONG", `must have at most ${attributionDomainsMax} entries`]
    ],
    [
      (change.attributionDomains ?? []).some((domain) => domain.length > attributionDomainCharactersMax),
      long("attribution_domains", attributionDomainCharactersMax)
    ]
  ]
  return rules.flatMap(([broken, problem]) => broken ? [problem] : [])
}

/** Fields of the user's settings that are not on the profile; other servers are not told of changes. */
const ofUser = [
  "defaultVisibility",
  "defaultSensitive",
  "defaultLanguage",
  "defaultQuotePolicy",
  "chosenLanguages",
  "locale",
  "timeZone",
  "showApplication",
  "noindex",
  "expandMedia",
  "expandSpoilers",
  "autoplayGifs",
  "emailSubscriptions"
] as const

const humanName = (field: string) => field.charAt(0).toUpperCase() + field.slice(1).replaceAll("_", " ")

/** Changes the profile and the user's settings. Unlocking the account accepts its pending follow requests. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { emailSubscriptions } = yield* ServerConfig
  const profiles = yield* Profiles
  const jobs = yield* Jobs
  const follows = yield* Follows
  const tellFollowers = yield* TellFollowers.make
  const intend = yield* IntentWriter.make
  const activities = yield* FollowActivities
  const send = yield* Sending.make
  const feeds = yield* Feeds

  /** Fails for accounts that may not offer posts by e-mail. */
  const offering = Effect.fnUntraced(function*(accountId: AccountId) {
    const allowed = emailSubscriptions
      ? yield* sql`SELECT 1 FROM users u WHERE u.account_id = ${accountId} AND ${mayOfferEmails(sql, "u")}`
      : []
    if (allowed.length === 0) return yield* new NotAllowed()
  })

  const verbs = {
    UpdateProfile: Effect.fnUntraced(
      function*(own: Ownership, { change }: Commands["UpdateProfile"]) {
        const { accountId } = own
        const problems = problemsOf(change)
        if (problems.length > 0) {
          const details: Record<string, Array<{ error: string; description: string }>> = {}
          for (const [field, error, description] of problems) (details[field] ??= []).push({ error, description })
          return yield* new Unprocessable({
            text: `Validation failed: ${problems.map(([field, , text]) => `${humanName(field)} ${text}`).join(", ")}`,
            details
          })
        }
        if (change.emailSubscriptions === true) yield* offering(accountId)
        const profile = Struct.omit(change, ofUser)
        const settings = Struct.pick(change, ofUser)
        const languages = settings.chosenLanguages?.flatMap((language) => languageTag(language) ?? [])
        const fields = profile.fields?.filter(({ name }) => name !== "")
        yield* profiles.change(
          accountId,
          fields === undefined ? profile : { ...profile, fields },
          languages === undefined ? settings : { ...settings, chosenLanguages: [...new Set(languages)] }
        )
        if (fields !== undefined) yield* jobs.enqueue("links", accountId)
        const admitted = change.locked === false ? yield* follows.acceptableOnUnlock(accountId) : []
        for (const follower of admitted) yield* follows.accept([follower, accountId])
        const ids = admitted.map((id) => AccountId.make(id))
        yield* send(activities.acceptAll(accountId, admitted))
        if (Object.keys(profile).length > 0) yield* tellFollowers(own, "Profile")
        if (ids.length > 0) yield* intend(own, { _tag: "homes", readers: ids })
        const dropped = yield* feedsOf(sql, ids)
        yield* sql.afterCommit(feeds.drop(dropped))
        return onAccount(accountId)
      }
    )
  }

  return { verbs }
})
