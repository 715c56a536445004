import { Schema } from "effect"

/**
 * Reasons for refusing an archive: not an archive or damaged, a post that is too large, more data than an archive of its
 * size has, too many files or posts, a path that leaves the archive, two files of one name, no posts or no owner, or
 * another owner.
 */
const ArchiveProblem = Schema.Literals([
  "unreadable",
  "oversized_post",
  "bomb",
  "too_many_files",
  "too_many_posts",
  "unsafe_path",
  "duplicate_path",
  "empty",
  "foreign_actor"
])
export type ArchiveProblem = typeof ArchiveProblem.Type
export const isArchiveProblem = Schema.is(ArchiveProblem)

/** An archive that cannot be imported. */
export class ArchiveRefused extends Schema.TaggedError<ArchiveRefused>()("ArchiveRefused", {
  problem: ArchiveProblem
}) {}

export const refuse = (problem: ArchiveProblem): ArchiveRefused => new ArchiveRefused({ problem })
