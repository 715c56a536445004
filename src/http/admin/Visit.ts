import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type ClientError, RecordNotFound } from "../../services/Errors.ts"
import { type AccountId, idMax } from "../../services/Ids.ts"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import type { Permission } from "../../services/staff/Permissions.ts"
import type { StaffMember } from "../../services/staff/StaffMembers.ts"
import type { Html } from "../html/Html.ts"

/** A member of staff in front of one of their pages. */
export interface Visit {
  readonly by: AccountId
  readonly member: StaffMember
  readonly words: Catalog
  /** The page's own address with its query: where its forms lead. */
  readonly here: string
  /** The path alone. */
  readonly path: string
  readonly query: URLSearchParams
  /** What the path names, by the names of its pattern. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** What a form was sent with and was refused, so that it can be shown again; empty otherwise. */
  readonly form: URLSearchParams
  readonly formToken: string
  readonly may: (permission: Permission) => boolean
}

/** What a page shows below its title. */
export interface View {
  readonly title: string
  readonly body: Html
}

/** What an act came to, in words; `undo` is a form that takes it back. */
export interface Done {
  readonly notice: string
  /** Where it leads; the page itself where nothing is said. */
  readonly to?: string
  readonly undo?: Undo
}

/** A form without a page: a path of the staff area, the act, and its fields. */
interface Undo {
  readonly path: string
  readonly act: string
  readonly fields?: Readonly<Record<string, string>>
}

/** What is said before an act is done. */
export interface Confirmation {
  readonly title: string
  /** What it does, for whom, and whether it can be undone. */
  readonly text: string | Html
  /** The words of the button. */
  readonly button: string
  /** It takes something away. */
  readonly danger?: boolean
}

type Asked<A> = Effect.Effect<A, ClientError, HttpServerRequest.HttpServerRequest>

/** What a button of a page does. */
export interface Act {
  /** Beside the page's own; one of several is enough. */
  readonly permission?: Permission | ReadonlyArray<Permission>
  /** Asks first, on a page of its own; undefined does it at once. */
  readonly confirm?: (visit: Visit) => Asked<Confirmation | undefined>
  /** The form is `visit.form`. Checks rank and permission again in the transaction of the act. */
  readonly run: (visit: Visit) => Asked<Done>
}

/** A page of the staff area with its acts, by the names of their buttons. */
export interface StaffPage {
  readonly path: `/admin${string}`
  /** One of several is enough. */
  readonly permission: Permission | ReadonlyArray<Permission>
  readonly show: (visit: Visit) => Asked<View>
  readonly acts?: Readonly<Record<string, Act>>
}

/** An id as a path or a form names it; what is none names nothing that is there. */
export const idOf = (text: string | null | undefined): bigint | undefined => {
  const id = typeof text === "string" && /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax || id < -idMax ? undefined : id
}

/** The id in the page's path. */
export const requireId = (visit: Visit, name = "id"): Effect.Effect<bigint, RecordNotFound> => {
  const id = idOf(visit.params[name])
  return id === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(id)
}

/** Rows of a list that a form may name at once. */
const chosenMax = 40

/** The ids that a bulk form names, in their order and each once; those beyond `max` are left out. */
export const chosenIds = ({ form }: Visit, max = chosenMax, field = "ids"): ReadonlyArray<bigint> =>
  [...new Set(form.getAll(field).flatMap((text) => idOf(text) ?? []))].slice(0, max)
