import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type AccountId, idMax } from "../../../services/database/Ids.ts"
import type { Catalog } from "../../../services/languages/Catalogs.ts"
import { type ClientError, RecordNotFound } from "../../../services/runtime/Errors.ts"
import type { Permission } from "../../../services/staff/Permissions.ts"
import type { StaffMember } from "../../../services/staff/StaffMembers.ts"
import type { Html } from "../../html/Html.ts"

/** A staff member's request for a page. */
export interface Visit {
  readonly by: AccountId
  readonly member: StaffMember
  readonly words: Catalog
  /** Path and query of the page, to which its forms are sent. */
  readonly pathAndQuery: string
  /** Path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Path parameters, by their names in the route pattern. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** Fields of a submitted form, to fill it again after a refusal; empty on a GET request. */
  readonly form: URLSearchParams
  readonly formToken: string
  readonly may: (permission: Permission) => boolean
}

/** Content of a page below its title. */
export interface View {
  readonly title: string
  readonly body: Html
}

/** Result of an action: a notice for the visitor, and a form that undoes it. */
export interface ActResult {
  readonly notice: string
  /** Redirect target; the page itself by default. */
  readonly to?: string
  readonly undo?: Undo
}

/** A form without a page: path in the staff area, action and fields. */
interface Undo {
  readonly path: string
  readonly act: string
  readonly fields?: Readonly<Record<string, string>>
}

/** Question that is asked before an action. */
export interface Confirmation {
  readonly title: string
  /** Effect of the action, its target, and whether it can be undone. */
  readonly text: string | Html
  /** Label of the button. */
  readonly button: string
  /** True if the action is destructive. */
  readonly danger?: boolean
}

type PageEffect<A> = Effect.Effect<A, ClientError, HttpServerRequest.HttpServerRequest>

/** Action behind a button of a page. */
export interface Act {
  /** Permissions required in addition to the page's; any one of a list is enough. */
  readonly permission?: Permission | ReadonlyArray<Permission>
  /** Confirmation page to show first; undefined runs the action at once. */
  readonly confirm?: (visit: Visit) => PageEffect<Confirmation | undefined>
  /**
   * Runs the action on the form in `visit.form`. Checks rank and permission again, in the transaction of the action.
   */
  readonly run: (visit: Visit) => PageEffect<ActResult>
}

/** A page of the staff area, with its actions by button name. */
export interface StaffPage {
  readonly path: `/admin${string}`
  /** Required permission; any one of a list is enough. */
  readonly permission: Permission | ReadonlyArray<Permission>
  readonly show: (visit: Visit) => PageEffect<View>
  readonly acts?: Readonly<Record<string, Act>>
}

/** Parses an id of a path or form; undefined if it is invalid or out of range. */
export const idOf = (text: string | null | undefined): bigint | undefined => {
  const id = typeof text === "string" && /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax || id < -idMax ? undefined : id
}

/** Returns the id in the page's path; an invalid one fails with RecordNotFound. */
export const requireId = (visit: Visit, name = "id"): Effect.Effect<bigint, RecordNotFound> => {
  const id = idOf(visit.params[name])
  return id === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(id)
}

/** Maximum rows of a bulk form. */
const chosenMax = 40

/** Returns the ids of a bulk form in order, without duplicates, and at most `max`. */
export const chosenIds = ({ form }: Visit, max = chosenMax, field = "ids"): ReadonlyArray<bigint> =>
  [...new Set(form.getAll(field).flatMap((text) => idOf(text) ?? []))].slice(0, max)
