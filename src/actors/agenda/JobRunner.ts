import { Clock, Deferred, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TaggedCollections } from "../../services/collections/TaggedCollections.ts"
import { AccountId, StatusId } from "../../services/database/Ids.ts"
import { rowsOf } from "../../services/database/Rows.ts"
import { transaction } from "../../services/database/Transactions.ts"
import { unknownDomain } from "../../services/federation/DomainNames.ts"
import { RemoteCollections } from "../../services/federation/fetching/RemoteCollections.ts"
import { mayPass } from "../../services/federation/fetching/RemotePosts.ts"
import { ClaimedItems } from "../../services/federation/inbox/ClaimedItems.ts"
import { KnownUris } from "../../services/federation/inbox/KnownUris.ts"
import { QuoteConsents } from "../../services/federation/inbox/QuoteConsents.ts"
import { RemoteQuotes } from "../../services/federation/inbox/RemoteQuotes.ts"
import { RemoteStatuses } from "../../services/federation/inbox/RemoteStatuses.ts"
import { UnknownMentions } from "../../services/federation/inbox/UnknownMentions.ts"
import { MovedAccounts } from "../../services/federation/MovedAccounts.ts"
import { RemoteAccounts } from "../../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { LinkProofs } from "../../services/identity/LinkProofs.ts"
import { type Job, type JobKind, Jobs } from "../../services/intents/Jobs.ts"
import { OperatorCommands } from "../../services/intents/OperatorCommands.ts"
import * as Allowances from "../../services/outbound/Allowances.ts"
import { briefCause } from "../../services/outbound/BriefCause.ts"
import { Unreachable } from "../../services/outbound/OutboundError.ts"
import { CurrentWork } from "../../services/runtime/CurrentWork.ts"
import { Unavailable } from "../../services/runtime/Errors.ts"
import { continued } from "../../services/runtime/TraceParents.ts"
import { Moves } from "../../services/social/Moves.ts"
import { InteractionRequests } from "../../services/statuses/InteractionRequests.ts"
import { AccountActors } from "../account/core/AccountActors.ts"
import { type Command, PersistedCommand } from "../account/core/AccountProtocol.ts"
import { runClaimed } from "./ClaimRounds.ts"
import * as FeatureChecks from "./FeatureChecks.ts"
import * as InteractionChecks from "./InteractionChecks.ts"
import * as QuoteChecks from "./QuoteChecks.ts"

/**
 * Maximum concurrent jobs of a node, and further ones that wait for slow servers. An attempt of a job times out after
 * `jobSecondsMax`.
 */
const jobsAtOnceMax = 32
const slowJobs = { millis: 2_000, atOnceMax: 1_000 }
const jobSecondsMax = 50
/** Maximum collections of accounts that are fetched for one account, and pages of their list. */
const collectionsMax = 50
const collectionPagesMax = 10
/** Timeout for fetching a mentioned account, in seconds. */
const mentionSecondsMax = 20

/** Jobs whose subject is a status. */
const ofStatus: ReadonlySet<JobKind> = new Set(["mentions", "quote", "consent", "tagged"])

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))
const featuredRows = rowsOf(Schema.Struct({ uri: Schema.String, url: Schema.NullOr(Schema.String) }))

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* RemoteAccounts
  const collections = yield* RemoteCollections
  const actors = yield* RemoteActors
  const jobs = yield* Jobs
  const moves = yield* Moves
  const operatorCommands = yield* OperatorCommands
  const accountActors = yield* AccountActors
  const proofs = yield* LinkProofs
  const statuses = yield* RemoteStatuses
  const movedAccounts = yield* MovedAccounts
  const knownUris = yield* KnownUris
  const unknown = yield* UnknownMentions

  const profile = Effect.fnUntraced(function*(accountId: bigint) {
    const uri = yield* accounts.uriOf(accountId)
    if (uri === undefined) return
    const { domain } = yield* actors.refresh(uri)
    if (domain === unknownDomain) return yield* Effect.fail("its handle is not confirmed")
  })

  /** Returns the account with this id: a local one, or a remote one as its server shows it now. */
  const lookedUp = Effect.fnUntraced(function*(uri: string) {
    const local = yield* knownUris.localAccount(uri)
    return local ?? AccountId.make((yield* actors.refresh(uri)).id)
  })

  /** Refetches the target and moves the account if the target names it. A refusal is final. */
  const move = Effect.fnUntraced(function*(accountId: bigint) {
    const uri = yield* moves.requestedTarget(accountId)
    if (uri === undefined) return
    const target = yield* lookedUp(uri)
    yield* accountActors.tell(AccountId.make(accountId), { _tag: "Move", target }).pipe(
      Effect.asVoid,
      Effect.catchTags({ NotAllowed: () => Effect.void, RecordNotFound: () => Effect.void })
    )
  })

  const redirect = Effect.fnUntraced(function*(accountId: bigint) {
    const uri = yield* movedAccounts.of(accountId)
    if (uri !== undefined) yield* movedAccounts.link(accountId, yield* lookedUp(uri))
  })

  /** Fetches the account's collections of accounts, up to the limits. */
  const featured = Effect.fnUntraced(function*(accountId: bigint) {
    const [row] = yield* featuredRows(sql`SELECT a.uri, r.featured_collections_url AS url FROM remote_actors r
      JOIN accounts a ON a.id = r.account_id WHERE r.account_id = ${accountId} AND a.suspended_at IS NULL`)
    if (row === undefined || row.url === null) return
    const origin = URL.parse(row.uri)?.origin ?? ""
    let pages = collectionPagesMax
    const items = yield* collections.items(row.url, origin, collectionsMax, () => pages-- > 0)
    const documents: Array<string> = []
    for (const item of items) {
      const document = typeof item === "string" ? yield* collections.find(item, origin) : item
      if (document !== undefined) documents.push(JSON.stringify(document))
    }
    if (documents.length > 0) {
      yield* accountActors.tell(AccountId.make(accountId), { _tag: "KeepCollections", documents })
    }
  })

  /** Tells the local followers of an account, and those who asked to follow it, to send their follows once more. */
  const refollow = Effect.fnUntraced(function*(accountId: bigint) {
    const target = AccountId.make(accountId)
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* sql`UPDATE remote_actors SET refollowed_at = ${at} WHERE account_id = ${accountId}`
    const command: Command = { _tag: "RepeatFollow", target }
    const encoded = yield* PersistedCommand.encode(command)
    let cursor: bigint | undefined = 0n
    while (cursor !== undefined) {
      const slice: Effect.Success<ReturnType<typeof moves.followersAndRequesters>> = yield* moves
        .followersAndRequesters(target, cursor)
      yield* operatorCommands.enqueueAll(slice.accountIds, command._tag, encoded)
      cursor = slice.cursor
    }
  })

  const fetchMention = (uri: string) =>
    actors.find(uri).pipe(
      Effect.timeoutOrElse({
        duration: `${mentionSecondsMax} seconds`,
        orElse: () => new Unreachable({ url: uri, reason: "timeout" })
      }),
      Effect.match({ onFailure: (error) => ({ uri, retryable: mayPass(error) }), onSuccess: () => undefined })
    )

  /** Adds the mentions of accounts that can be fetched; the job is retried for the others. */
  const mentions = Effect.fnUntraced(function*(statusId: bigint) {
    const waiting = yield* unknown.waiting(statusId)
    if (waiting === undefined) return
    const failed = (yield* Effect.forEach(waiting.uris, fetchMention, { concurrency: "unbounded" })).filter((one) =>
      one !== undefined
    )
    yield* unknown.forget(statusId, failed.flatMap(({ retryable, uri }) => retryable ? [] : [uri]))
    if (failed.length < waiting.uris.length) {
      yield* accountActors.tell(waiting.author, { _tag: "MentionKnown", statusId: StatusId.make(statusId) })
    }
    if (failed.some(({ retryable }) => retryable)) return yield* new Unavailable()
  })

  /** Links the next early replies of a post to it. `adopt` enqueues the job again if there are more. */
  const replies = Effect.fnUntraced(function*(statusId: bigint) {
    const [post] = yield* uriRows(sql`SELECT uri FROM statuses WHERE id = ${statusId} AND deleted_at IS NULL`)
    if (post === undefined) return
    yield* transaction(sql)(statuses.adopt(post.uri))
  })

  const featureChecks = yield* FeatureChecks.make
  const quoteChecks = yield* QuoteChecks.make

  /** Handler of each kind of job. Each may run twice. */
  const runs: Record<JobKind, (accountId: bigint) => Effect.Effect<void, unknown>> = {
    profile,
    move,
    redirect,
    mentions,
    collections: featured,
    refollow,
    features: featureChecks.verifyItems,
    tagged: featureChecks.fetchNamed,
    quote: quoteChecks.checkNewQuote,
    consent: quoteChecks.recheckConsent,
    interaction: yield* InteractionChecks.make,
    links: proofs.verify,
    replies
  }

  const underWay = new Map<string, Deferred.Deferred<void>>()
  /** Runs a job after the earlier one of the same subject, whose fetches may be stale. */
  const afterEarlierRun = <A, E>({ kind, subjectId }: Job, work: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const key = `${kind} ${subjectId}`
      const [before, ownRun] = [underWay.get(key), Deferred.makeUnsafe<void>()]
      underWay.set(key, ownRun)
      const end = Effect.suspend(() => {
        if (underWay.get(key) === ownRun) underWay.delete(key)
        return Deferred.done(ownRun, Exit.void)
      })
      return Effect.ensuring(before === undefined ? work : Effect.andThen(Deferred.await(before), work), end)
    })

  const run = (job: Job) => afterEarlierRun(job, runOnce(job))
  const allowances = Allowances.make()
  /**
   * Jobs of one status share an allowance, because a post names hosts of its author's choice. Other jobs have bounds of
   * their own: four links of a profile, the items of a collection.
   */
  const limited = ({ kind, subjectId }: Job) =>
    ofStatus.has(kind) ? allowances.within(`status ${subjectId}`)(runs[kind](subjectId)) : runs[kind](subjectId)
  const runOnce = (job: Job) =>
    limited(job).pipe(
      Effect.andThen(jobs.complete(job)),
      Effect.timeout(`${jobSecondsMax} seconds`),
      Effect.provideService(CurrentWork, `a job of kind ${job.kind}`),
      continued("Jobs.run", job.traceParent, { kind: job.kind, tries: job.tries }),
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logInfo(`a job failed and will be retried: ${job.kind} of ${job.subjectId}`, briefCause(cause)),
          Effect.catchCause(
            jobs.retry(job),
            (cause) =>
              Effect.logWarning("a job's retry could not be stored; it is retried when its claim expires", cause)
          )
        )
      )
    )

  yield* runClaimed({ workName: "jobs", atOnceMax: jobsAtOnceMax, slow: slowJobs, claim: jobs.claim, run })
})

/**
 * Runs jobs on every node, each claimed by one node at a time and retried until it is done. No transaction is held
 * while a job waits for other servers; the services that write results are idempotent.
 */
export const layer = Layer.effectDiscard(make).pipe(
  Layer.provide([
    ClaimedItems.layer,
    InteractionRequests.layer,
    KnownUris.layer,
    LinkProofs.layer,
    OperatorCommands.layer,
    UnknownMentions.layer,
    RemoteQuotes.layer,
    RemoteStatuses.layer,
    QuoteConsents.layer,
    TaggedCollections.layer
  ])
)
