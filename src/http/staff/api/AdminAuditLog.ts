import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { AuditEntries } from "../../../services/staff/AuditEntries.ts"
import { Access } from "../../guard/Access.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { encode } from "../../wire/Keys.ts"
import { pageOf } from "../../wire/PageQuery.ts"
import { auditFile } from "../render/AuditFile.ts"
import { AuditEntry, auditEntry, auditLogFilters, AuditLogQuery } from "../wire/AuditEntry.ts"

const path = "/api/v1/admin/audit_log"
/** Entries per page. */
const entryRows = 100
const reading = Access.staff("viewAuditLog", "admin:read")
const query = AuditLogQuery

export class AdminAuditLogGroup extends HttpApiGroup.make("admin/auditLog")
  .add(
    HttpApiEndpoint.get("list", path, { query, success: Schema.Array(AuditEntry) }).annotate(Access, reading),
    HttpApiEndpoint.get("file", `${path}.csv`, { query, success: Schema.String }).annotate(Access, reading)
  )
  .middleware(Guard)
{}

/** Audit log of staff actions, with actor and target. It is read-only. */
export const layer = group(
  AdminAuditLogGroup,
  Effect.fn(function*(handlers) {
    const entries = yield* AuditEntries
    const { publicUrl } = yield* ServerConfig
    const auditQueryOf = (query: AuditLogQuery) => ({
      ...query,
      action: query.action || undefined,
      targetType: query.targetType || undefined
    })
    return handlers.handleAll({
      list: traced("admin.auditLog.list")(function*({ query, request }) {
        const page = pageOf(query, entryRows)
        const rows = yield* entries.list(auditQueryOf(query), page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: (row) => row.id,
          items: rows.map((row) => encode<AuditEntry>(auditEntry(row))),
          keep: Lists.linkParameters(request.url, auditLogFilters)
        })
      }),
      file: traced("admin.auditLog.file")(function*({ query }) {
        const { maxId, minId, sinceId } = query
        return Reply.file(
          yield* auditFile(entries, auditQueryOf(query), { maxId, minId, sinceId }),
          "text/csv; charset=utf-8",
          "audit_log.csv"
        )
      })
    })
  })
).pipe(Layer.provide(AuditEntries.layer))
