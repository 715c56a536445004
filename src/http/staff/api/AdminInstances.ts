import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DomainActors } from "../../../actors/domain/DomainActors.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { type DeliveryHost, HostDeliveries } from "../../../services/moderation/HostDeliveries.ts"
import { type InstanceNote, InstanceNotes } from "../../../services/moderation/InstanceNotes.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { domainRows } from "../../render/PageSizes.ts"
import { idOrNull, timestamp, timestampOrNull } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { pageOf, PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminDelivery, AdminInstanceNote, DeliveriesQuery, NoteWrite } from "../wire/AdminFederation.ts"

const reading = Access.staff("manageFederation", "admin:read")
const writing = Access.staff("manageFederation", "admin:write")
const path = "/api/v1/admin/instances"
const one = `${path}/:domain`
const DomainPath = { domain: Schema.String }
const change = { params: DomainPath, success: AdminDelivery }

export class AdminInstancesGroup extends HttpApiGroup.make("admin/instances")
  .add(
    HttpApiEndpoint.get("list", path, { query: DeliveriesQuery, success: Schema.Array(AdminDelivery) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", one, change).annotate(Access, reading),
    HttpApiEndpoint.post("stop", `${one}/stop_delivery`, change).annotate(Access, writing),
    HttpApiEndpoint.post("restart", `${one}/restart_delivery`, change).annotate(Access, writing),
    HttpApiEndpoint.post("clear", `${one}/clear_delivery_errors`, change).annotate(Access, writing),
    HttpApiEndpoint.get("notes", `${one}/notes`, {
      params: DomainPath,
      query: PageQuery,
      success: Schema.Array(AdminInstanceNote)
    }).annotate(Access, reading),
    HttpApiEndpoint.post("note", `${one}/notes`, {
      params: DomainPath,
      payload: NoteWrite,
      success: AdminInstanceNote
    }).annotate(Access, writing),
    HttpApiEndpoint.delete("removeNote", `${one}/notes/:id`, {
      params: { ...DomainPath, ...IdPath },
      success: Schema.Struct({})
    }).annotate(Access, writing)
  )
  .middleware(Guard)
{}

const shown = ({ error, failedDays, host, pausedBy, succeededAt, waiting }: DeliveryHost) =>
  json<AdminDelivery>({
    domain: host,
    stoppedBy: pausedBy,
    failedDays,
    lastError: error,
    lastSuccessAt: timestampOrNull(succeededAt),
    waiting
  })

const shownNote = ({ accountId, content, createdAt, domain, id }: InstanceNote) =>
  json<AdminInstanceNote>({
    id: String(id),
    domain,
    accountId: idOrNull(accountId),
    content,
    createdAt: timestamp(createdAt)
  })

interface OfDomain {
  readonly params: { readonly domain: string }
}

/** Remote servers: failing deliveries, stopping and restarting them, and notes of staff. */
export const layer = group(
  AdminInstancesGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* DomainActors
    const deliveries = yield* HostDeliveries
    const notes = yield* InstanceNotes
    const { publicUrl: baseUrl } = yield* ServerConfig

    const deliveryAct = (name: "stop" | "restart" | "clear") =>
      traced(`admin.instances.${name}`)(function*({ params }: OfDomain) {
        const host = yield* deliveries[name](yield* Caller.account, params.domain)
        if (name !== "stop") yield* actors.wake([host.host])
        return Reply.json(shown(host))
      })

    return handlers.handleAll({
      list: traced("admin.instances.list")(function*({ query }) {
        const page = pageOf(query, domainRows)
        const rows = yield* deliveries.page(page, query.failing === true)
        return Lists.page({
          baseUrl,
          path,
          page,
          rows,
          cursor: ({ id }) => id,
          items: rows.map(shown),
          keep: query.failing === true ? { failing: "true" } : {}
        })
      }),
      show: traced("admin.instances.show")(({ params }) =>
        Effect.map(deliveries.find(params.domain), (host) => Reply.json(shown(host)))
      ),
      stop: deliveryAct("stop"),
      restart: deliveryAct("restart"),
      clear: deliveryAct("clear"),
      notes: traced("admin.instances.notes")(function*({ params, query }) {
        const page = pageOf(query, domainRows)
        const rows = yield* notes.page(params.domain, page)
        return Lists.page({
          baseUrl,
          path: `${path}/${encodeURIComponent(params.domain)}/notes`,
          page,
          rows,
          cursor: ({ id }) => id,
          items: rows.map(shownNote)
        })
      }),
      note: traced("admin.instances.note")(function*({ params, payload }) {
        return Reply.json(shownNote(yield* notes.create(yield* Caller.account, params.domain, payload.content ?? "")))
      }),
      removeNote: traced("admin.instances.removeNote")(function*({ params }) {
        yield* notes.remove(yield* Caller.account, params.domain, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([HostDeliveries.layer, InstanceNotes.layer]))
