import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import type { Permission } from "../../../services/staff/Permissions.ts"
import { Access } from "../../guard/Access.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"

interface StaffList<Path extends `/${string}`, Row extends Schema.Top, Write extends Schema.Top> {
  readonly path: Path
  readonly permission: Permission
  /** Permissions to read, any one of which is enough, if they differ. */
  readonly readers?: ReadonlyArray<Permission>
  /** Suffix of the narrower scopes: `domain_blocks` for `admin:read:domain_blocks`. Without it only the wide ones. */
  readonly scope?: string
  readonly row: Row
  readonly write: Write
}

/**
 * Declares the endpoints of a list that staff edit. A group adds those that it has, in its own order. Rows are read
 * with `reading`, and changed with `writing`.
 */
export const staffEndpoints = <const Path extends `/${string}`, Row extends Schema.Top, Write extends Schema.Top>(
  { path, permission, readers, row, scope, write }: StaffList<Path, Row, Write>
) => {
  const scopes = (
    verb: "read" | "write"
  ) => [`admin:${verb}`, ...(scope === undefined ? [] : [`admin:${verb}:${scope}`])]
  const reading = Access.staff(readers ?? permission, ...scopes("read"))
  const writing = Access.staff(permission, ...scopes("write"))
  const one = { params: IdPath, success: row }
  const changing = { ...one, payload: write }
  return {
    reading,
    writing,
    list: HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(row) }).annotate(Access, reading),
    /** A short list, sent whole. */
    wholeList: HttpApiEndpoint.get("list", path, { success: Schema.Array(row) }).annotate(Access, reading),
    create: HttpApiEndpoint.post("create", path, { payload: write, success: row }).annotate(Access, writing),
    show: HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    replace: HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    change: HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    remove: HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing),
    /** Declares an action on a row, `POST /:id/verb`, that returns the row. */
    act: <const Name extends string>(name: Name, verb: string = name) =>
      HttpApiEndpoint.post(name, `${path}/:id/${verb}`, one).annotate(Access, writing)
  }
}
