import * as LocalIds from "../LocalIds.ts"
import { noteContext } from "./NoteDocument.ts"
import { actorContext, type Document, moment, publicCollection, withContext } from "./Vocabulary.ts"

/*
 * Outgoing activities other than new posts (federation.md section 8, 'Out'), complete with contexts. `actor` is the
 * sender's id.
 */

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

/** Follower and followed account. `id`, if known, names the follow in its Accept or Reject and in its Undo. */
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

/** Prefix of the ids of an account's follows; each one's number follows. */
export const followIds = (actor: string): string => `${actor}#follows/`

/**
 * An activity addressed to one or few named recipients. A shared inbox must not deliver it to others (ActivityPub
 * section 7.1.3).
 */
const personal = (
  document: Document & { readonly id: string; readonly type: string },
  ...receivers: ReadonlyArray<string>
): Activity => plain({ ...document, to: receivers })

export const follow = (of: FollowOf & { readonly id: string }): Activity =>
  personal({ ...followObject(of), id: of.id, type: "Follow" }, of.object)

/** Reply of the followed account to a follow, which is embedded as it arrived. */
export const followResponse = (type: "Accept" | "Reject", of: FollowOf, number: string): Activity =>
  personal({
    id: `${of.object}#${type === "Accept" ? "accepts" : "rejects"}/follows/${number}`,
    type,
    actor: of.object,
    object: followObject(of)
  }, of.actor)

/**
 * Builds an Undo that embeds the activity without its context. It has the activity's recipients; the Undo of a boost is
 * public.
 */
export const undo = ({ document, type, uri }: Activity): Activity => {
  const { "@context": context, ...object } = document
  const id = `${uri}/undo`
  const addressed = type === "Announce" ? { to: [publicCollection] } : { to: document["to"] }
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

/** `id` is the block's number, or its id if it came from another server. */
export const block = (actor: string, id: bigint | string, object: string): Activity =>
  personal({ id: typeof id === "string" ? id : `${actor}#blocks/${id}`, type: "Block", actor, object }, object)

/** A vote: a note per choice, named as the option, addressed only to the poll's author. */
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

/** A report, sent in the name of the server and never of the reporter (row 20), to `receivers`. */
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

/** Audience of profile changes: public, and the followers. */
const shown = (actor: string) => ({ to: [publicCollection], cc: [LocalIds.followers(actor)] })

/** A pin or its removal; `object` is the post's id. */
export const pin = (type: "Add" | "Remove", actor: string, object: string, number: string): Activity =>
  plain({
    id: `${actor}#pins/${number}/${type.toLowerCase()}`,
    type,
    actor,
    ...shown(actor),
    target: LocalIds.featured(actor),
    object
  })

/** A hashtag featured on the sender's profile, or its removal; `number` makes the id unique. */
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

/** Rejects a reply as part of the thread below `target`, in GoToSocial's terms. */
export const rejectReply = (actor: string, object: string, target: string, number: string): Activity =>
  plain({
    id: `${actor}#rejects/replies/${number}/${encodeURIComponent(object)}`,
    type: "Reject",
    actor,
    ...shown(actor),
    object,
    target
  })

/** An updated profile; `at` (milliseconds since 1970) makes the id unique. */
export const updateActor = (document: Document, at: number): Activity => {
  const { "@context": _, ...object } = document
  const id = `${String(document["id"])}#updates/${at}`
  return {
    type: "Update",
    uri: id,
    document: { "@context": actorContext, id, type: "Update", actor: document["id"], to: [publicCollection], object }
  }
}

export const deleteActor = (actor: string): Activity =>
  plain({ id: `${actor}#delete`, type: "Delete", actor, to: [publicCollection], object: actor })

/** Asks followers of `actor` to follow `target` instead. */
export const move = (actor: string, target: string, number: string): Activity =>
  plain({
    id: `${actor}#moves/${number}`,
    type: "Move",
    actor,
    to: [LocalIds.followers(actor)],
    object: actor,
    target
  })

/** A new post or reblog with its existing activity. */
export const published = (activity: Document): Activity => ({
  type: String(activity["type"]),
  uri: String(activity["id"]),
  document: { "@context": noteContext, ...activity }
})

/** A post as edited at `at`. */
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

/** The deletion of a post, sent to everyone who received it. */
export const deleteNote = (actor: string, id: string): Activity => ({
  type: "Delete",
  uri: `${id}#delete`,
  document: {
    "@context": noteContext,
    id: `${id}#delete`,
    type: "Delete",
    actor,
    to: [publicCollection],
    object: { id, type: "Tombstone", atomUri: id }
  }
})
