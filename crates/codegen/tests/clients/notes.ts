/**
 * A client of the model `notes` over HTTP.
 *
 * Notes that people write.
 *
 * Printed by `keyform generate typescript`: change the model, not this file.
 *
 * @module
 */

declare const brand: unique symbol

/** A text that is known to be such an id. */
export type NoteId = string & { readonly [brand]: 'NoteId' }
export const NoteId = (text: string): NoteId => text as NoteId

/** A note. */
export interface Note {
  readonly noteId: NoteId
  readonly userId: string
  /** What it says. */
  readonly text: string
  readonly tags?: ReadonlySet<string> | undefined
  readonly price?: bigint | undefined
  readonly createdAt: Date
  readonly version: number
}

/** What a caller's token proves. */
export interface Caller {
  readonly userId: string
}

/** The names by which each write is refused. */
export interface Outcomes {
  readonly addNote: 'NoteExists' | 'Conflict'
  readonly deleteNote: 'UnknownNote' | 'Conflict'
}

/** What `note` takes. */
export interface NoteArguments {
  readonly userId: string
  readonly noteId: NoteId
}

/** What `notes` takes. */
export interface NotesArguments {
  readonly userId: string
}

/** What `noteCount` takes. */
export interface NoteCountArguments {
  readonly userId: string
}

/** What `addNote` takes. */
export interface AddNoteArguments {
  /** What it says. */
  readonly text: string
  readonly tags?: ReadonlySet<string> | undefined
  readonly price?: Whole | undefined
}

/** What `deleteNote` takes. */
export interface DeleteNoteArguments {
  readonly noteId: NoteId
}

/** Calls the patterns of the model `notes`. */
export class NotesClient {
  readonly #connection: Connection
  /** Reads that are followed: what is there, then every change of it. */
  readonly live: NotesLive

  constructor(options: ClientOptions) {
    this.#connection = new Connection('notes', options)
    this.live = new NotesLive(options)
  }

  /**
   * One note.
   *
   * - GetItem of table Notes
   * - `pk = "USER#{userId}"`
   * - `sk = "NOTE#{noteId}"`
   * - 0.5 read units
   */
  async note(args: NoteArguments, options: CallOptions = {}): Promise<Note | null> {
    return decode.maybe(await this.#connection.get('note', args, [], options), decodeNote) as Note | null
  }

  /**
   * The notes of somebody, the newest first.
   *
   * - Query of table Notes
   * - `pk = "USER#{userId}"`
   * - `sk begins with "NOTE#"`
   * - from the largest sort key to the smallest, 20 items a page
   * - 1.5 read units
   */
  notes(args: NotesArguments, options: CallOptions = {}): Pages<Note> {
    return new Pages(async (cursor) => {
      return decode.page(await this.#connection.get('notes', { ...args, cursor }, [], options), decodeNote) as Page<Note>
    })
  }

  /**
   * How many notes somebody has.
   *
   * - Query of table Notes, which only counts
   * - `pk = "USER#{userId}"`
   * - `sk begins with "NOTE#"`
   * - 6.5 read units
   */
  async noteCount(args: NoteCountArguments, options: CallOptions = {}): Promise<number> {
    return decode.count(await this.#connection.get('noteCount', args, [], options))
  }

  /**
   * Writes a note.
   *
   * - PutItem
   *   - Put Note, which must not be there yet, else NoteExists
   * - 1 write unit
   *
   * @throws {@link Refused} `NoteExists`, `Conflict`
   */
  async addNote(args: AddNoteArguments, options: WriteOptions = {}): Promise<Note> {
    return decodeNote(await this.#connection.post('addNote', args, options)) as Note
  }

  /**
   * Deletes a note.
   *
   * - DeleteItem
   *   - Delete Note; on 1 condition, else UnknownNote
   * - 1 write unit
   *
   * @throws {@link Refused} `UnknownNote`, `Conflict`
   */
  async deleteNote(args: DeleteNoteArguments, options: WriteOptions = {}): Promise<void> {
    await this.#connection.post('deleteNote', args, options)
  }
}

/** The reads of the model `notes` that can be followed: what is there, then every change of it. */
export class NotesLive {
  readonly #reads: LiveReads

  /** @internal */
  constructor(options: ClientOptions) {
    this.#reads = new LiveReads('notes', options)
  }

  /**
   * One note.
   *
   * Tells the item, or `null` while there is none, and again whenever that changes. {@link Live} says when it ends.
   */
  note(args: NoteArguments, options: LiveOptions = {}): Live<Note | null> {
    return this.#reads.one('note', args, options, { Note: decodeNote })
  }

  /**
   * The notes of somebody, the newest first.
   *
   * Tells a page of what is there, then each insert, change and removal, also beyond the page. {@link Live} says when it ends.
   */
  notes(args: NotesArguments, options: LiveItemsOptions = {}): LiveItems<{ Note: Note }> {
    return this.#reads.items('notes', args, options, { Note: decodeNote })
  }

  /**
   * How many notes somebody has.
   *
   * Tells how many there are, and again whenever that changes. {@link Live} says when it ends.
   */
  noteCount(args: NoteCountArguments, options: LiveOptions = {}): Live<number> {
    return this.#reads.count('noteCount', args, options)
  }
}

…

const decodeNote = decode.record({
  tags: decode.set(decode.same),
  price: decode.money,
  createdAt: decode.time,
})
