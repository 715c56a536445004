import { Clock, Effect, Layer, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { campaignOf } from "../../services/annual/AnnualReport.ts"
import { Changes } from "../../services/caching/Changes.ts"
import { single } from "../../services/caching/Single.ts"
import { unknownDomain } from "../../services/federation/DomainNames.ts"
import { DomainPolicies } from "../../services/federation/domains/DomainPolicies.ts"
import { policyOf } from "../../services/federation/domains/DomainPolicy.ts"
import { PublishedBlocks } from "../../services/federation/domains/PublishedBlocks.ts"
import { Activity } from "../../services/instance/Activity.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { Instance } from "../../services/instance/Instance.ts"
import { InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { MediaTools } from "../../services/media/MediaTools.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"
import { defaultRole, may } from "../../services/staff/Permissions.ts"
import { Roles } from "../../services/staff/Roles.ts"
import { Translations } from "../../services/translation/Translations.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { emojiValues } from "../render/AccountValues.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { deprecated } from "../render/Deprecation.ts"
import {
  activityJson,
  documentJson,
  instanceJson,
  instanceV1Json,
  languagesJson,
  rulesJson,
  termsJson
} from "../render/InstanceJson.ts"
import { CustomEmoji } from "../wire/CustomEmoji.ts"
import * as Wire from "../wire/Instance.ts"
import { encode, json, none } from "../wire/Keys.ts"
import { PeersQuery } from "../wire/ReadRequests.ts"

/** Lifetime of cached responses about the server, in milliseconds; changes by staff show after a second at most. */
const instanceMillisMax = 1_000
const ofInstance = { kinds: ["instance", "roles"], millisMax: instanceMillisMax } as const
/** Lifetime of the cached list of known servers, in milliseconds. */
const peersMillisMax = 5 * 60_000
/** Maximum servers in a search result. */
const peersFoundMax = 10

const { anyone, anyoneUnlessRestricted } = Access

export class InstanceGroup extends HttpApiGroup.make("instance")
  .add(
    HttpApiEndpoint.get("show", "/api/v2/instance", { success: Wire.Instance }).annotate(Access, anyone),
    HttpApiEndpoint.get("showV1", "/api/v1/instance", { success: Wire.InstanceV1 }).annotate(Access, anyone),
    HttpApiEndpoint.get("rules", "/api/v1/instance/rules", { success: Schema.Array(Wire.Rule) })
      .annotate(Access, anyone),
    HttpApiEndpoint.get("languages", "/api/v1/instance/languages", { success: Schema.Array(Wire.Language) })
      .annotate(Access, anyone),
    HttpApiEndpoint.get("extendedDescription", "/api/v1/instance/extended_description", { success: Wire.Document })
      .annotate(Access, anyone),
    HttpApiEndpoint.get("privacyPolicy", "/api/v1/instance/privacy_policy", { success: Wire.Document })
      .annotate(Access, anyone),
    HttpApiEndpoint.get("termsOfService", "/api/v1/instance/terms_of_service", { success: Wire.TermsOfService })
      .annotate(Access, anyone),
    HttpApiEndpoint.get("termsOfServiceSince", "/api/v1/instance/terms_of_service/:date", {
      params: { date: Schema.String },
      success: Wire.TermsOfService
    }).annotate(Access, anyone),
    HttpApiEndpoint.get("translationLanguages", "/api/v1/instance/translation_languages", {
      success: Schema.Record(Schema.String, Schema.Array(Schema.String))
    }).annotate(Access, anyone),
    HttpApiEndpoint.get("donationCampaigns", "/api/v1/donation_campaigns", { success: Schema.Void })
      .annotate(Access, Access.user()),
    HttpApiEndpoint.get("peers", "/api/v1/instance/peers", { success: Schema.Array(Schema.String) })
      .annotate(Access, anyoneUnlessRestricted),
    HttpApiEndpoint.get("activity", "/api/v1/instance/activity", { success: Schema.Array(Wire.Activity) })
      .annotate(Access, anyoneUnlessRestricted),
    HttpApiEndpoint.get("domainBlocks", "/api/v1/instance/domain_blocks", { success: Schema.Array(Wire.DomainBlock) })
      .annotate(Access, Access.public()),
    HttpApiEndpoint.get("peersSearch", "/api/v1/peers/search", {
      query: PeersQuery,
      success: Schema.Array(Schema.String)
    }).annotate(Access, anyoneUnlessRestricted),
    HttpApiEndpoint.get("customEmojis", "/api/v1/custom_emojis", { success: Schema.Array(CustomEmoji) })
      .annotate(Access, anyoneUnlessRestricted)
  )
  .middleware(Guard)
{}

/** Facts about the server. Most are also public in restricted mode (S-020, S-160, S-251). */
export const layer = group(
  InstanceGroup,
  Effect.fn(function*(handlers) {
    const instance = yield* Instance
    const policies = yield* InstancePolicies
    const activity = yield* Activity
    const emojis = yield* CustomEmojis
    const accounts = yield* AccountViews
    const config = yield* ServerConfig
    const domains = yield* DomainPolicies
    const published = yield* PublishedBlocks

    const tools = yield* MediaTools
    const translations = yield* Translations
    const { vapid } = yield* Secrets
    const roles = yield* Roles
    const invitesEnabled = Effect.map(
      roles.get(defaultRole),
      Option.exists(({ permissions }) => may(permissions, "inviteUsers"))
    )
    const facts = Effect.gen(function*() {
      const about = yield* instance.about
      const [contact = none] = about.contactAccountId === null ? [] : yield* accounts.render([about.contactAccountId])
      return {
        about,
        config,
        contact,
        mediaTypes: tools.types,
        campaign: campaignOf(yield* Clock.currentTimeMillis),
        translates: translations.enabled,
        invitesEnabled: yield* invitesEnabled,
        policies: yield* policies.current,
        rules: yield* instance.rules,
        usage: yield* instance.usage,
        vapidKey: vapid.publicKey
      }
    })
    const show = yield* single(ofInstance, Effect.map(facts, instanceJson))
    const showV1 = yield* single(ofInstance, Effect.map(facts, instanceV1Json))
    const rules = yield* single(ofInstance, Effect.map(instance.rules, rulesJson))
    const known = yield* single({ kinds: [], millisMax: peersMillisMax }, instance.peers)
    /** Known servers that are allowed and have no domain block or limit. */
    const peers = yield* single(
      { kinds: ["domains"], millisMax: instanceMillisMax },
      Effect.zipWith(known, domains.current, (all, lists) =>
        all.filter((domain) => {
          const { allowed, severity } = policyOf(lists, domain)
          return domain !== unknownDomain && allowed && severity === "noop"
        }))
    )
    const listed = yield* single(
      { kinds: ["emojis"], millisMax: instanceMillisMax },
      Effect.map(emojis.listed, (all) => json<ReadonlyArray<CustomEmoji>>(all.map(emojiValues)))
    )
    /** Returns the current terms of service, or those of a date. Fails with RecordNotFound if they do not exist. */
    const terms = Effect.fnUntraced(function*(date?: string) {
      const found = yield* instance.document("terms_of_service", date)
      if (found === null) return yield* new RecordNotFound()
      const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
      return Reply.json(termsJson(found, today))
    })
    /** Fails with RecordNotFound in limited federation mode. */
    const unlessRestricted = <A, E, R>(work: Effect.Effect<A, E, R>) =>
      config.limitedFederation ? Effect.fail(new RecordNotFound()) : work

    return handlers.handleAll({
      show: () => Effect.map(show, (text) => Reply.json(text)),
      showV1: () => Effect.map(showV1, (text) => Reply.withHeaders(Reply.json(text), deprecated("2022-11-14"))),
      rules: () => Effect.map(rules, (text) => Reply.json(text)),
      languages: () => Effect.succeed(Reply.json(languagesJson)),
      extendedDescription: () =>
        Effect.map(instance.about, ({ extendedDescription }) => Reply.json(documentJson(extendedDescription))),
      privacyPolicy: () => Effect.map(instance.about, ({ privacyPolicy }) => Reply.json(documentJson(privacyPolicy))),
      termsOfService: () => terms(),
      termsOfServiceSince: ({ params }) => terms(params.date),
      translationLanguages: () =>
        Effect.map(
          translations.languages,
          (languages) =>
            Reply.json(encode<Readonly<Record<string, ReadonlyArray<string>>>>(Object.fromEntries(languages)))
        ),
      // Always empty: a donation campaign would come from a service of the operator.
      donationCampaigns: () => Effect.succeed(Reply.nothing()),
      peers: () => unlessRestricted(Effect.map(peers, (domains) => Reply.json(encode<ReadonlyArray<string>>(domains)))),
      activity: () => unlessRestricted(Effect.map(activity.weeks, (weeks) => Reply.json(activityJson(weeks)))),
      domainBlocks: Effect.fnUntraced(function*() {
        const found = yield* published.list((yield* Caller.viewer) !== undefined)
        if (found === undefined) return yield* new RecordNotFound()
        return Reply.json(json<ReadonlyArray<Wire.DomainBlock>>(found))
      }),
      peersSearch: ({ query }) =>
        unlessRestricted(Effect.map(peers, (domains) => {
          const start = query.q?.trim().toLowerCase() ?? ""
          const found = start === "" ? [] : domains.filter((domain) => domain.startsWith(start))
          return Reply.json(encode<ReadonlyArray<string>>(found.slice(0, peersFoundMax)))
        })),
      customEmojis: () => Effect.map(listed, (text) => Reply.json(text))
    })
  })
).pipe(Layer.provide([AccountViews.layer, Changes.layer]))
