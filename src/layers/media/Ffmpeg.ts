import { Effect, Schema } from "effect"
import { MediaRefused, MediaToolFailed, type Source } from "../../services/media/MediaTools.ts"
import { type Allowance, type Ended, run } from "./LimitedProcess.ts"

/** Limits of a probe, and of a conversion. */
export const probing: Allowance = { seconds: 20, cpuSeconds: 20, memoryBytes: 1_073_741_824, fileBytes: 0 }
const converting: Allowance = {
  seconds: 600,
  cpuSeconds: 900,
  memoryBytes: 2_684_354_560,
  fileBytes: 268_435_456
}
/** Maximum threads per run; the node has other work. */
const threadsMax = 2

/** Demuxer of each type: a file is always read as the type that its first bytes show, so never as a playlist. */
const demuxers: Readonly<Record<string, string>> = {
  "image/gif": "gif",
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "audio/mp4": "mov",
  "video/webm": "matroska",
  "video/x-ms-asf": "asf",
  "audio/ogg": "ogg",
  "audio/wave": "wav",
  "audio/flac": "flac",
  "audio/mpeg": "mp3",
  "audio/aac": "aac"
}

/** Media types that ffmpeg reads. */
export const playableTypes = Object.keys(demuxers).filter((mime) => mime !== "image/gif")

/** Allowed decoders; other streams of a file are not decoded (safety rows 44 and 45). */
const decoders = [
  "h264,hevc,mpeg4,vp8,vp9,libdav1d,av1,theora,gif,mjpeg,png,h263,wmv1,wmv2,wmv3,vc1,msmpeg4",
  "aac,mp3,mp3float,opus,libopus,vorbis,flac,alac,amrnb,amrwb,wmav1,wmav2,wmapro,pcm_u8,pcm_s16le,pcm_s24le,pcm_s32le,pcm_f32le"
].join(",")

/** Splits arguments without spaces. */
export const splitArguments = (text: string): ReadonlyArray<string> => text.split(" ")

/**
 * Returns the arguments to read this file by its demuxer, without access to the network, devices or other protocols.
 */
const input = ({ path, type }: Source): ReadonlyArray<string> => {
  const demuxer = demuxers[type.mime] ?? "mov"
  return ["-protocol_whitelist", "file,pipe", "-codec_whitelist", decoders, "-f", demuxer, "-i", `file:${path}`]
}

const Numeric = Schema.optionalKey(Schema.Union([Schema.String, Schema.Number]))
const Tags = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
const Probed = Schema.fromJsonString(Schema.Struct({
  streams: Schema.Array(
    Schema.Struct({
      codecType: Schema.optionalKey(Schema.String),
      codecName: Schema.optionalKey(Schema.String),
      width: Schema.optionalKey(Schema.Int),
      height: Schema.optionalKey(Schema.Int),
      frameRate: Schema.optionalKey(Schema.String),
      /** Pixel aspect ratio, such as `4:3`. */
      aspect: Schema.optionalKey(Schema.String),
      frames: Numeric,
      tags: Tags,
      disposition: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
      sides: Schema.optionalKey(Schema.Array(Schema.Struct({ rotation: Schema.optionalKey(Schema.Number) })))
    }).pipe(Schema.encodeKeys({
      codecType: "codec_type",
      codecName: "codec_name",
      frameRate: "avg_frame_rate",
      aspect: "sample_aspect_ratio",
      frames: "nb_frames",
      sides: "side_data_list"
    }))
  ),
  format: Schema.Struct({ duration: Numeric, bitrate: Numeric, tags: Tags }).pipe(
    Schema.encodeKeys({ bitrate: "bit_rate" })
  )
}))
export type Probed = typeof Probed.Type

const decode = Schema.decodeEffect(Probed)

const unreadable = () => new MediaRefused({ text: "File type of uploaded media could not be verified" })

/**
 * Signals of a process over its limits, which a retry would repeat. Any other signal is a crash, which a retry may
 * avoid.
 */
const overLimits = new Set(["SIGKILL", "SIGXCPU", "SIGXFSZ"])

const ended = Effect.fnUntraced(function*({ code, complaint, out, signal }: Ended) {
  if (code === 0) return out
  yield* Effect.logDebug("ffmpeg refused a file", signal ?? code, complaint)
  return signal === null || overLimits.has(signal)
    ? yield* unreadable()
    : yield* new MediaToolFailed({ text: `${signal}: ${complaint}` })
})

/** Wraps ffmpeg and ffprobe of this machine. Every command starts with `prefix`. */
export const make = (prefix: ReadonlyArray<string>) => ({
  /** Returns the metadata of a file. */
  probe: (source: Source) =>
    run(prefix, [
      ...splitArguments("ffprobe -v error -threads 1 -of json -show_format -show_streams"),
      ...input(source)
    ], probing).pipe(
      Effect.flatMap(ended),
      Effect.flatMap((text) => Effect.mapError(decode(text), unreadable))
    ),
  /** Converts a file. Its metadata is dropped unless `options` add some. */
  convert: (source: Source, options: ReadonlyArray<string>, file: string) =>
    run(prefix, [
      ...splitArguments(`ffmpeg -v error -nostdin -y -threads ${threadsMax}`),
      ...input(source),
      ...splitArguments(`-map_metadata -1 -map_chapters -1 -fflags +bitexact -flags +bitexact -threads ${threadsMax}`),
      ...options,
      `file:${file}`
    ], converting).pipe(Effect.flatMap(ended))
})
export type Ffmpeg = ReturnType<typeof make>
