import * as LocalIds from "../LocalIds.ts"
import { noteContext } from "./NoteDocument.ts"
import { actorContext, type Document, everybody, moment, withContext } from "./Vocabulary.ts"

/* What leaves beside new posts (federation.md section 8, 'Out'), complete with contexts. `actor` is the sender's id. */

/** An activity that is ready to be sent. */
export interface Activity {
  readonly type: string
  readonly uri: string
  readonly document: Document
}

const plain = (document: Document & { readonly id: string; readonly type: string }): Activity => ({
  type: document.type,
  uri: document.id,
  document: withContext(document)
})

/** Who wants to follow whom; `id` names it in the answer and when it is undone, where it has one. */
export interface FollowOf {
  readonly id: string | undefined
  readonly actor: string
  readonly object: string
}

const followObject = ({ actor, id, object }: FollowOf) => ({
  ...(id === undefined ? {} : { id }),
  type: "Follow",
  actor,
  object
})

/** The ids of the account's follows; the number of each comes behind. */
export const followIds = (actor: string): string => `${actor}#follows/`

/**
 * An activity for one person or a few, who are named: a shared inbox must not take it for another's (ActivityPub
 * section 7.1.3).
 */
const personal = (
  document: Document & { readonly id: string; readonly type: string },
  ...receivers: ReadonlyArray<string>
): Activity => plain({ ...document, to: receivers })

export const follow = (of: FollowOf & { readonly id: string }): Activity =>
  personal({ ...followObject(of), id: of.id, type: "Follow" }, of.object)

/** The answer of the one who is followed; the follow is named as it came. */
export const answerFollow = (type: "Accept" | "Reject", of: FollowOf, number: string): Activity =>
  personal({
    id: `${of.object}#${type === "Accept" ? "accepts" : "rejects"}/follows/${number}`,
    type,
    actor: of.object,
    object: followObject(of)
  }, of.actor)

/** Takes an activity back, which is embedded without its context; for whom it was, and a boost's end for everybody. */
export const undo = ({ document, type, uri }: Activity): Activity => {
  const { "@context": context, ...object } = document
  const id = `${uri}/undo`
  const addressed = type === "Announce" ? { to: [everybody] } : { to: document["to"] }
  return {
    type: "Undo",
    uri: id,
    document: { "@context": context, id, type: "Undo", actor: document["actor"], ...addressed, object }
  }
}

/** `number` is the favourite's. */
export const like = (
  actor: string,
  number: bigint,
  post: { readonly uri: string; readonly author: string }
): Activity => personal({ id: `${actor}#likes/${number}`, type: "Like", actor, object: post.uri }, post.author)

export const block = (actor: string, number: bigint, object: string): Activity =>
  personal({ id: `${actor}#blocks/${number}`, type: "Block", actor, object }, object)

/** A vote: one note for each choice, named as the option and told to nobody but the poll's author. */
export const vote = (
  actor: string,
  number: string,
  poll: { readonly uri: string; readonly author: string; readonly option: string }
): Activity => {
  const id = `${actor}#votes/${number}`
  return plain({
    id: `${id}/activity`,
    type: "Create",
    actor,
    to: poll.author,
    object: { id, type: "Note", name: poll.option, attributedTo: actor, inReplyTo: poll.uri, to: poll.author }
  })
}

/** A report, told by the server itself and never by who made it (row 20), to `receivers`. */
export const flag = (
  instance: string,
  number: string,
  report: {
    readonly objects: ReadonlyArray<string>
    readonly comment: string
    readonly receivers: ReadonlyArray<string>
  }
): Activity =>
  personal({
    id: `${instance}#reports/${number}`,
    type: "Flag",
    actor: instance,
    content: report.comment,
    object: report.objects
  }, ...report.receivers)

/** Changes of a profile are public, and sent to the followers. */
const shown = (actor: string) => ({ to: [everybody], cc: [LocalIds.followers(actor)] })

/** A pin, or its end; `object` is the post's id. */
export const pin = (type: "Add" | "Remove", actor: string, object: string, number: string): Activity =>
  plain({
    id: `${actor}#pins/${number}/${type.toLowerCase()}`,
    type,
    actor,
    ...shown(actor),
    target: LocalIds.featured(actor),
    object
  })

/** A hashtag on the sender's profile, or its end; `number` tells one time from the next. */
export const featureTag = (
  type: "Add" | "Remove",
  actor: string,
  object: Document & { readonly name: string },
  number: string
): Activity => {
  const id = `${actor}#tags/${encodeURIComponent(object.name)}/${number}/${type.toLowerCase()}`
  return {
    type,
    uri: id,
    document: { "@context": noteContext, id, type, actor, ...shown(actor), target: LocalIds.featured(actor), object }
  }
}

/** A reply is no part of the thread below `target`; in GoToSocial's words. */
export const rejectReply = (actor: string, object: string, target: string, number: string): Activity =>
  plain({
    id: `${actor}#rejects/replies/${number}/${encodeURIComponent(object)}`,
    type: "Reject",
    actor,
    ...shown(actor),
    object,
    target
  })

/** A profile as it is now; `at` tells one update from the next (milliseconds since 1970). */
export const updateActor = (document: Document, at: number): Activity => {
  const { "@context": _, ...object } = document
  const id = `${String(document["id"])}#updates/${at}`
  return {
    type: "Update",
    uri: id,
    document: { "@context": actorContext, id, type: "Update", actor: document["id"], to: [everybody], object }
  }
}

export const deleteActor = (actor: string): Activity =>
  plain({ id: `${actor}#delete`, type: "Delete", actor, to: [everybody], object: actor })

/** Followers of `actor` are asked to follow `target` instead. */
export const move = (actor: string, target: string, number: string): Activity =>
  plain({
    id: `${actor}#moves/${number}`,
    type: "Move",
    actor,
    to: [LocalIds.followers(actor)],
    object: actor,
    target
  })

/** A new post or reblog, whose activity is known. */
export const published = (activity: Document): Activity => ({
  type: String(activity["type"]),
  uri: String(activity["id"]),
  document: { "@context": noteContext, ...activity }
})

/** The post as it is now, at `at`. */
export const updateNote = (note: Document, at: Date): Activity => {
  const id = `${String(note["id"])}#updates/${at.getTime()}`
  return {
    type: "Update",
    uri: id,
    document: {
      "@context": noteContext,
      id,
      type: "Update",
      actor: note["attributedTo"],
      published: moment(at),
      to: note["to"],
      cc: note["cc"],
      object: note
    }
  }
}

/** The end of a post, told to everybody who had it. */
export const deleteNote = (actor: string, id: string): Activity => ({
  type: "Delete",
  uri: `${id}#delete`,
  document: {
    "@context": noteContext,
    id: `${id}#delete`,
    type: "Delete",
    actor,
    to: [everybody],
    object: { id, type: "Tombstone", atomUri: id }
  }
})
