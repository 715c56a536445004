import { Schema } from "effect"

/** Counts of an archive that is to be imported, shown before its owner confirms. */
const ArchivePlan = Schema.Struct({
  /** Posts and boosts that are not known here. */
  posts: Schema.Int,
  boosts: Schema.Int,
  /** Posts and boosts that were imported before, and posts of this account. */
  known: Schema.Int,
  /** Files that the archive has for its posts, and files that its posts name and it lacks. */
  files: Schema.Int,
  missingFiles: Schema.Int,
  /** Posts that will fail, as they had files only and the archive lacks these; absent in older plans. */
  empty: Schema.optionalKey(Schema.Int),
  /** Items that are left out, by reason (`ArchivedItem`). */
  foreign: Schema.Int,
  unreadable: Schema.Int,
  unsupported: Schema.Int,
  /** Times of the oldest and newest post, in milliseconds since 1970; null without posts. */
  firstMillis: Schema.NullOr(Schema.Number),
  lastMillis: Schema.NullOr(Schema.Number)
})
type ArchivePlan = typeof ArchivePlan.Type

export const emptyPlan: ArchivePlan = {
  posts: 0,
  boosts: 0,
  known: 0,
  files: 0,
  missingFiles: 0,
  foreign: 0,
  unreadable: 0,
  unsupported: 0,
  firstMillis: null,
  lastMillis: null
}

/** Options of an import: the uploaded file, and facts about the archive once it was read. */
export const ArchiveImport = Schema.Struct({
  fileName: Schema.String,
  bytes: Schema.Number,
  owner: Schema.NullOr(
    Schema.Struct({
      uri: Schema.String,
      followersUrl: Schema.NullOr(Schema.String),
      /** Absent in older imports. */
      folder: Schema.optionalKey(Schema.String)
    })
  ),
  plan: ArchivePlan,
  /** The owner has seen the plan. */
  confirmed: Schema.Boolean
})
export type ArchiveImport = typeof ArchiveImport.Type
export const decodeArchiveImport = Schema.decodeUnknownEffect(ArchiveImport)

/** Place of the next step of an import; `after` is the last item of the previous one. */
export const ImportCursor = Schema.Struct({
  phase: Schema.Literals(["read", "plan", "planned"]),
  entriesRead: Schema.Int,
  after: Schema.NullOr(Schema.Struct({ millis: Schema.Number, place: Schema.Int }))
})
export type ImportCursor = typeof ImportCursor.Type
export const firstImportCursor: ImportCursor = { phase: "read", entriesRead: 0, after: null }
export const decodeImportCursor = Schema.decodeUnknownEffect(ImportCursor)
