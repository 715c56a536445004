import { Effect, Layer, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { listNames, numberNames } from "../../services/spam/ConditionChecks.ts"
import type { SpamRule } from "../../services/spam/SpamRule.ts"
import { type RuleHits, SpamRules } from "../../services/spam/SpamRules.ts"
import { runDaysMax, type SpamRun, SpamRuns } from "../../services/spam/SpamRuns.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { timestamp, timestampOrNull } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { AdminSpamRule, AdminSpamRun, SpamRuleOrder, SpamRuleWrite, SpamRunStart } from "./wire/Spam.ts"

const reading = Access.staff("manageRules", "admin:read")
const writing = Access.staff("manageRules", "admin:write")
const path = "/api/v1/admin/spam_rules"
const one = { params: IdPath, success: AdminSpamRule }
const changing = { ...one, payload: SpamRuleWrite }

export class AdminSpamRulesGroup extends HttpApiGroup.make("admin/spamRules")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(AdminSpamRule) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: SpamRuleWrite, success: AdminSpamRule }).annotate(Access, writing),
    HttpApiEndpoint.put("order", `${path}/order`, { payload: SpamRuleOrder, success: Schema.Array(AdminSpamRule) })
      .annotate(Access, writing),
    HttpApiEndpoint.get("runs", `${path}/dry_runs`, { success: Schema.Array(AdminSpamRun) }).annotate(Access, reading),
    HttpApiEndpoint.post("run", `${path}/dry_runs`, { payload: SpamRunStart, success: AdminSpamRun })
      .annotate(Access, writing),
    HttpApiEndpoint.get("showRun", `${path}/dry_runs/:id`, { params: IdPath, success: AdminSpamRun })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const unused: RuleHits = { on: 0, dry: 0 }

const shown = ({ createdAt, id, place, updatedAt, ...rule }: SpamRule, hits: RuleHits = unused) =>
  json<AdminSpamRule>({
    ...rule,
    id: String(id),
    position: place,
    hits,
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt)
  })

const shownRun = ({ createdAt, days, finishedAt, id, results, state, statuses }: SpamRun) =>
  json<AdminSpamRun>({
    id: String(id),
    days,
    state,
    statusesCount: statuses,
    results: results.map(({ accounts, name, ruleId, samples, statuses }) => ({
      ruleId: String(ruleId),
      name,
      statusesCount: statuses,
      accountsCount: accounts,
      samples: samples.map(String)
    })),
    createdAt: timestamp(createdAt),
    finishedAt: timestampOrNull(finishedAt)
  })

const wishOf = ({ action, conditions, name, position, score, state }: SpamRuleWrite) => ({
  name: name ?? undefined,
  state: state ?? undefined,
  action: action ?? undefined,
  score,
  place: position,
  conditions: conditions && {
    lists: Struct.pick(conditions, listNames),
    numbers: Struct.pick(conditions, numberNames),
    origin: conditions.origin ?? undefined,
    lookAlike: conditions.lookAlike,
    avatarAlike: conditions.avatarAlike
  }
})

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: SpamRuleWrite
}

/** Chain of spam rules, and its dry runs. */
export const layer = group(
  AdminSpamRulesGroup,
  Effect.fn(function*(handlers) {
    const rules = yield* SpamRules
    const runs = yield* SpamRuns

    const withHits = Effect.fnUntraced(function*(rule: SpamRule) {
      return Reply.json(shown(rule, (yield* rules.hits([rule.id])).get(rule.id)))
    })
    const all = Effect.gen(function*() {
      const found = yield* rules.list
      const hits = yield* rules.hits(found.map(({ id }) => id))
      return Reply.list(found.map((rule) => shown(rule, hits.get(rule.id))))
    })
    const change = traced("admin.spamRules.change")(function*({ params, payload }: Changing) {
      return yield* withHits(yield* rules.update(yield* Caller.account, params.id, wishOf(payload)))
    })

    return handlers.handleAll({
      list: traced("admin.spamRules.list")(() => all),
      create: traced("admin.spamRules.create")(function*({ payload }) {
        return Reply.json(shown(yield* rules.create(yield* Caller.account, wishOf(payload))))
      }),
      order: traced("admin.spamRules.order")(function*({ payload }) {
        yield* rules.order(yield* Caller.account, Lists.idsOf(payload.ids))
        return yield* all
      }),
      show: traced("admin.spamRules.show")(({ params }) => Effect.flatMap(rules.find(params.id), withHits)),
      replace: change,
      change,
      remove: traced("admin.spamRules.remove")(function*({ params }) {
        yield* rules.remove(yield* Caller.account, params.id)
        return Reply.empty
      }),
      runs: traced("admin.spamRules.runs")(() => Effect.map(runs.list, (found) => Reply.list(found.map(shownRun)))),
      run: traced("admin.spamRules.run")(function*({ payload }) {
        return Reply.json(shownRun(yield* runs.start(yield* Caller.account, payload.days ?? runDaysMax)))
      }),
      showRun: traced("admin.spamRules.showRun")(({ params }) =>
        Effect.map(runs.find(params.id), (run) => Reply.json(shownRun(run)))
      )
    })
  })
).pipe(Layer.provide([SpamRules.layer, SpamRuns.layer]))
