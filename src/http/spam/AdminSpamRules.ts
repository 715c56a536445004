import { Effect, Layer, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { listNames, numberNames } from "../../services/spam/ConditionChecks.ts"
import type { SpamRule } from "../../services/spam/SpamRule.ts"
import { type RuleHits, SpamRules } from "../../services/spam/SpamRules.ts"
import { runDaysMax, type SpamRun, SpamRuns } from "../../services/spam/SpamRuns.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { staffEndpoints } from "../staff/api/StaffEndpoints.ts"
import { staffHandlers } from "../staff/api/StaffTable.ts"
import { timestamp, timestampOrNull } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { AdminSpamRule, AdminSpamRun, SpamRuleOrder, SpamRuleWrite, SpamRunStart } from "./wire/Spam.ts"

const path = "/api/v1/admin/spam_rules"
const at = staffEndpoints({ path, permission: "manageRules", row: AdminSpamRule, write: SpamRuleWrite })

export class AdminSpamRulesGroup extends HttpApiGroup.make("admin/spamRules")
  .add(
    at.wholeList,
    at.create,
    HttpApiEndpoint.put("order", `${path}/order`, { payload: SpamRuleOrder, success: Schema.Array(AdminSpamRule) })
      .annotate(Access, at.writing),
    HttpApiEndpoint.get("runs", `${path}/dry_runs`, { success: Schema.Array(AdminSpamRun) }).annotate(
      Access,
      at.reading
    ),
    HttpApiEndpoint.post("run", `${path}/dry_runs`, { payload: SpamRunStart, success: AdminSpamRun })
      .annotate(Access, at.writing),
    HttpApiEndpoint.get("showRun", `${path}/dry_runs/:id`, { params: IdPath, success: AdminSpamRun })
      .annotate(Access, at.reading),
    at.show,
    at.replace,
    at.change,
    at.remove
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

/** Chain of spam rules, and its dry runs. */
export const layer = group(
  AdminSpamRulesGroup,
  Effect.fn(function*(handlers) {
    const rules = yield* SpamRules
    const runs = yield* SpamRuns

    const { changes, create, handlers: common, listAll } = staffHandlers({
      name: "spamRules",
      table: rules,
      shown: (found: ReadonlyArray<SpamRule>) =>
        Effect.map(
          rules.hits(found.map(({ id }) => id)),
          (hits) => found.map((rule) => shown(rule, hits.get(rule.id)))
        )
    })
    const list = listAll(rules.list)

    return handlers.handleAll({
      ...common,
      list,
      create: create((by, write: SpamRuleWrite) => rules.create(by, wishOf(write))),
      ...changes((by, id, write: SpamRuleWrite) => rules.update(by, id, wishOf(write))),
      order: traced("admin.spamRules.order")(function*({ payload }) {
        yield* rules.order(yield* Caller.account, Lists.idsOf(payload.ids))
        return yield* list()
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
