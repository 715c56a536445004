import { Effect, Layer, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { BlockImports } from "../../services/lists/BlockImports.ts"
import { type Suggestion, Suggestions } from "../../services/lists/ListSuggestions.ts"
import { type ModerationList, ModerationLists } from "../../services/lists/ModerationLists.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { domainRows } from "../render/PageSizes.ts"
import { staffEndpoints } from "../staff/api/StaffEndpoints.ts"
import { staffHandlers } from "../staff/api/StaffTable.ts"
import { idOrNull, timestamp, timestampOrNull } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import {
  AdminBlockPreview,
  AdminModerationList,
  AdminModerationSuggestion,
  BlockCsv,
  BlockCsvText,
  Confirmed,
  ImportedBlocks,
  ListWrite
} from "./wire/ModerationList.ts"

const path = "/api/v1/admin/moderation_lists"
const suggestionsPath = "/api/v1/admin/moderation_suggestions"
const csvPath = "/api/v1/admin/domain_block_files"
const at = staffEndpoints({ path, permission: "manageFederation", row: AdminModerationList, write: ListWrite })

export class AdminModerationListsGroup extends HttpApiGroup.make("admin/moderationLists")
  .add(
    at.wholeList,
    at.create,
    at.show,
    at.replace,
    at.change,
    at.remove,
    at.act("sync"),
    HttpApiEndpoint.get("suggestions", suggestionsPath, {
      query: PageQuery,
      success: Schema.Array(AdminModerationSuggestion)
    }).annotate(Access, at.reading),
    HttpApiEndpoint.post("apply", `${suggestionsPath}/:id/apply`, {
      params: IdPath,
      payload: Confirmed,
      success: AdminModerationSuggestion
    }).annotate(Access, at.writing),
    HttpApiEndpoint.post("dismiss", `${suggestionsPath}/:id/dismiss`, {
      params: IdPath,
      success: AdminModerationSuggestion
    }).annotate(Access, at.writing),
    HttpApiEndpoint.get("export", csvPath, { success: BlockCsvText }).annotate(Access, at.reading),
    HttpApiEndpoint.post("preview", `${csvPath}/preview`, { payload: BlockCsv, success: AdminBlockPreview })
      .annotate(Access, at.reading),
    HttpApiEndpoint.post("import", csvPath, { payload: BlockCsv, success: ImportedBlocks }).annotate(Access, at.writing)
  )
  .middleware(Guard)
{}

const shown = (list: ModerationList) =>
  json<AdminModerationList>({
    id: String(list.id),
    name: list.name,
    url: list.url,
    type: list.type,
    listAction: list.action,
    priority: list.priority,
    applyAutomatically: list.applyAutomatically,
    retractAutomatically: list.retractAutomatically,
    preserveRelationships: list.preserveRelationships,
    overrideUnattributed: list.overrideUnattributed,
    createdAt: timestamp(list.createdAt),
    lastSyncedAt: timestampOrNull(list.syncedAt),
    lastError: list.error
  })

const shownSuggestion = ({ action, createdAt, domain, id, listId, state }: Suggestion) =>
  json<AdminModerationSuggestion>({
    id: String(id),
    domain,
    action,
    state,
    listId: idOrNull(listId),
    createdAt: timestamp(createdAt)
  })

const wishOf = ({ listAction, name, type, url, ...rest }: ListWrite) => ({
  ...rest,
  name: name ?? undefined,
  url: url ?? undefined,
  type: type ?? undefined,
  action: listAction ?? undefined
})

/** Third-party lists of domain blocks, their suggestions, and import and export of blocks. */
export const layer = group(
  AdminModerationListsGroup,
  Effect.fn(function*(handlers) {
    const files = yield* BlockImports
    const lists = yield* ModerationLists
    const suggestions = yield* Suggestions
    const { publicUrl: baseUrl } = yield* ServerConfig

    const { act, changes, create, handlers: common, listAll } = staffHandlers({
      name: "moderationLists",
      table: lists,
      shown: (found) => Effect.succeed(found.map(shown))
    })

    return handlers.handleAll({
      ...common,
      list: listAll(lists.list),
      create: create((by, write: ListWrite) => lists.create(by, wishOf(write))),
      ...changes((by, id, write: ListWrite) => lists.update(by, id, wishOf(write))),
      sync: act("sync", (_, id) => lists.scheduleSync(id)),
      suggestions: traced("admin.moderationLists.suggestions")(function*({ query }) {
        const page = pageOf(query, domainRows)
        const rows = yield* suggestions.page(page)
        return Lists.page({
          baseUrl,
          path: suggestionsPath,
          page,
          rows,
          cursor: ({ id }) => id,
          items: rows.map(shownSuggestion)
        })
      }),
      apply: traced("admin.moderationLists.apply")(function*({ params, payload }) {
        const by = yield* Caller.account
        return Reply.json(shownSuggestion(yield* suggestions.apply(by, params.id, payload.confirm === true)))
      }),
      dismiss: traced("admin.moderationLists.dismiss")(function*({ params }) {
        return Reply.json(shownSuggestion(yield* suggestions.dismiss(yield* Caller.account, params.id)))
      }),
      export: traced("admin.moderationLists.export")(function*() {
        return Reply.json(json<BlockCsvText>({ data: yield* files.write }))
      }),
      preview: traced("admin.moderationLists.preview")(function*({ payload }) {
        const { entries, skipped } = yield* files.preview(payload.data ?? "")
        return Reply.json(json<AdminBlockPreview>({
          entries: entries.map((entry) => Struct.omit(entry, ["action"])),
          skipped
        }))
      }),
      import: traced("admin.moderationLists.import")(function*({ payload }) {
        const blocks = yield* files.run(yield* Caller.account, payload.data ?? "")
        return Reply.json(json<ImportedBlocks>({ made: blocks.length }))
      })
    })
  })
).pipe(Layer.provide([BlockImports.layer, ModerationLists.layer, Suggestions.layer]))
