/**
 * The discord data layer as in its design document: one table, one flexible index, a stream,
 * every access pattern of its summary and every example query.
 */
import { UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import {
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { client, documents, makeTable, poll, readStream, streamArn } from './support.ts'

const user = '01JGSTEST001'
const server = '01JGSTEST002'
const channel = '01JGSTEST003'
const made = '2025-12-27T00:00:00.000Z'
const firstMessage = 1735257600000

function discordTable(cleanup: (() => Promise<void>)[]): Promise<string> {
  return makeTable({ after: (remove: any) => cleanup.push(remove) }, {
    TableName: `discord-clone-test${process.pid}-DiscordTable`,
    AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'gsi1',
        KeySchema: [
          { AttributeName: 'gsi1pk', KeyType: 'HASH' },
          { AttributeName: 'gsi1sk', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })
}

const people = [user, '01JGSTEST011', '01JGSTEST012']

function userItem(userId: string) {
  return {
    pk: `USER#${userId}`,
    sk: 'PROFILE',
    gsi1pk: `EMAIL#${userId.toLowerCase()}@example.com`,
    gsi1sk: `USER#${userId}`,
    entityType: 'User',
    userId,
    email: `${userId.toLowerCase()}@example.com`,
    username: 'testuser',
    passwordHash: '$2a$10$HASHEDPASSWORD',
    avatarUrl: null,
    createdAt: made,
    updatedAt: made,
  }
}

function serverItem(serverId: string) {
  const key = `SERVER#${serverId}`
  return {
    pk: key,
    sk: 'META',
    gsi1pk: key,
    gsi1sk: 'META',
    entityType: 'Server',
    serverId,
    name: 'Test Server',
    ownerId: user,
    iconUrl: null,
    createdAt: made,
    updatedAt: made,
  }
}

function membershipItem(userId: string, serverId: string, role: string) {
  return {
    pk: `USER#${userId}`,
    sk: `SERVER#${serverId}`,
    gsi1pk: `SERVER#${serverId}`,
    gsi1sk: `USER#${userId}`,
    entityType: 'ServerMembership',
    userId,
    serverId,
    role,
    joinedAt: made,
  }
}

function channelItem(channelId: string, serverId: string, name: string) {
  return {
    pk: `SERVER#${serverId}`,
    sk: `CHANNEL#${channelId}`,
    gsi1pk: `CHANNEL#${channelId}`,
    gsi1sk: 'META',
    entityType: 'Channel',
    channelId,
    serverId,
    name,
    topic: 'General chat',
    createdAt: made,
    updatedAt: made,
  }
}

function messageItem(number: number) {
  const messageId = `01JGSMSG${String(number).padStart(4, '0')}`
  return {
    pk: `CHANNEL#${channel}`,
    sk: `MSG#${firstMessage + number * 1000}#${messageId}`,
    gsi1pk: `MSG#${messageId}`,
    gsi1sk: `CHANNEL#${channel}`,
    entityType: 'Message',
    messageId,
    channelId: channel,
    userId: user,
    username: 'testuser',
    content: `Hello, world ${number} 👍`,
    edited: false,
    editedAt: null,
    reactions: [{ emoji: '👍', userIds: [user], count: 1 }],
    createdAt: made,
    updatedAt: made,
  }
}

const invite = {
  pk: `SERVER#${server}`,
  sk: 'INVITE#abc123xyz',
  gsi1pk: 'INVITE#abc123xyz',
  gsi1sk: `SERVER#${server}`,
  entityType: 'Invite',
  inviteCode: 'abc123xyz',
  serverId: server,
  createdBy: user,
  expiresAt: null,
  maxUses: null,
  uses: 0,
  createdAt: made,
}

const connection = {
  pk: `CHANNEL#${channel}`,
  sk: 'CONN#xyz789conn',
  gsi1pk: 'CONN#xyz789conn',
  gsi1sk: `USER#${user}`,
  entityType: 'Connection',
  connectionId: 'xyz789conn',
  channelId: channel,
  serverId: server,
  userId: user,
  connectedAt: made,
  ttl: Math.floor(Date.now() / 1000) + 86400,
}

const lastRead = {
  pk: `USER#${user}`,
  sk: `LASTREAD#CHANNEL#${channel}`,
  gsi1pk: `CHANNEL#${channel}`,
  gsi1sk: `USER#${user}`,
  entityType: 'LastRead',
  userId: user,
  channelId: channel,
  lastReadMessageId: '01JGSMSG0001',
  lastReadTimestamp: firstMessage,
  updatedAt: made,
}

function everything(): Record<string, unknown>[] {
  return [
    ...people.map(userItem),
    serverItem(server),
    serverItem('01JGSOTHER'),
    ...people.map((id) => membershipItem(id, server, id === user ? 'owner' : 'member')),
    membershipItem(user, '01JGSOTHER', 'member'),
    channelItem(channel, server, 'general'),
    channelItem('01JGSTEST004', server, 'random'),
    ...Array.from({ length: 120 }, (_, number) => messageItem(number)),
    invite,
    connection,
    lastRead,
  ]
}

/** Writes items 25 at a time and retries unprocessed ones. */
async function load(table: string, items: Record<string, unknown>[]): Promise<void> {
  for (let start = 0; start < items.length; start += 25) {
    let rest: any = { [table]: items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } })) }
    for (let turn = 0; rest && Object.keys(rest).length > 0; turn++) {
      assert.ok(turn < 20, 'items stay unprocessed')
      rest = (await documents.send(new BatchWriteCommand({ RequestItems: rest }))).UnprocessedItems
    }
  }
}

describe('discord', () => {
  let table: string
  const cleanup: (() => Promise<void>)[] = []
  before(async () => {
    table = await discordTable(cleanup)
    await load(table, everything())
  })
  after(() => Promise.all(cleanup.map((remove) => remove())))

  async function query(condition: string, values: Record<string, unknown>, options: Partial<QueryCommandInput> = {}) {
    const page = await documents.send(
      new QueryCommand({ TableName: table, KeyConditionExpression: condition, ExpressionAttributeValues: values, ...options }),
    )
    return page.Items!
  }
  const primary = (pk: string, sk: string) => query('pk = :pk AND begins_with(sk, :sk)', { ':pk': pk, ':sk': sk })
  const reverse = (gsi1pk: string) => query('gsi1pk = :pk', { ':pk': gsi1pk }, { IndexName: 'gsi1' })

  test('1 get user by id', async () => {
    const found = await query('pk = :pk AND sk = :sk', { ':pk': `USER#${user}`, ':sk': 'PROFILE' })
    assert.deepEqual(found, [userItem(user)])
  })

  test('2 get user by email (login)', async () => {
    const found = await reverse('EMAIL#01jgstest011@example.com')
    assert.deepEqual(found, [userItem('01JGSTEST011')])
  })

  test('3 get server by id', async () => {
    const found = await query('pk = :pk AND sk = :sk', { ':pk': `SERVER#${server}`, ':sk': 'META' })
    assert.deepEqual(found, [serverItem(server)])
  })

  test("4 get user's servers", async () => {
    const found = await primary(`USER#${user}`, 'SERVER#')
    assert.deepEqual(found.map((item) => item.serverId), ['01JGSOTHER', server])
  })

  test("5 get server's members", async () => {
    const found = await query('gsi1pk = :pk AND begins_with(gsi1sk, :sk)', { ':pk': `SERVER#${server}`, ':sk': 'USER#' }, { IndexName: 'gsi1' })
    assert.deepEqual(found.map((item) => item.userId), people)
  })

  test("6 get server's channels", async () => {
    const found = await primary(`SERVER#${server}`, 'CHANNEL#')
    assert.deepEqual(found.map((item) => item.name), ['general', 'random'])
  })

  test('7 get channel by id: the index partition also holds who has read it', async () => {
    const found = await reverse(`CHANNEL#${channel}`)
    assert.deepEqual(found.map((item) => item.entityType), ['Channel', 'LastRead'])
  })

  test('8 get messages in channel, newest first, page by page', async () => {
    const pages = paginateQuery(
      { client: documents, pageSize: 50 },
      {
        TableName: table,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
        ExpressionAttributeValues: { ':pk': `CHANNEL#${channel}`, ':sk': 'MSG#' },
        ScanIndexForward: false,
      },
    )
    const counts: number[] = []
    const seen: string[] = []
    for await (const page of pages) {
      counts.push(page.Count!)
      seen.push(...page.Items!.map((item) => item.messageId))
    }
    assert.deepEqual(counts, [50, 50, 20])
    assert.deepEqual(seen, Array.from({ length: 120 }, (_, number) => messageItem(119 - number).messageId))
  })

  test('8 the printed query with Limit 50 and ExclusiveStartKey', async () => {
    const input = {
      TableName: table,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ExpressionAttributeValues: { ':pk': `CHANNEL#${channel}`, ':sk': 'MSG#' },
      ScanIndexForward: false,
      Limit: 50,
    }
    const first = await documents.send(new QueryCommand(input))
    const last = first.Items![49]
    assert.deepEqual(first.LastEvaluatedKey, { pk: last.pk, sk: last.sk })
    const second = await documents.send(new QueryCommand({ ...input, ExclusiveStartKey: first.LastEvaluatedKey }))
    assert.equal(second.Items![0].messageId, messageItem(69).messageId)
  })

  test('9 get messages after timestamp', async () => {
    const after = firstMessage + 116 * 1000
    const found = await query('pk = :pk AND sk > :sk', { ':pk': `CHANNEL#${channel}`, ':sk': `MSG#${after}#` })
    assert.deepEqual(found.map((item) => item.messageId), [116, 117, 118, 119].map((number) => messageItem(number).messageId))
  })

  test('10 get message by id, edit it, delete it', async () => {
    const [message] = await reverse('MSG#01JGSMSG0007')
    const Key = { pk: message.pk, sk: message.sk }
    const edited = await documents.send(
      new UpdateCommand({
        TableName: table,
        Key,
        UpdateExpression: 'SET content = :content, edited = :true, editedAt = :now, reactions = list_append(reactions, :more)',
        ConditionExpression: 'userId = :author',
        ExpressionAttributeValues: {
          ':content': 'edited',
          ':true': true,
          ':now': made,
          ':author': user,
          ':more': [{ emoji: '🎉', userIds: people, count: 3 }],
        },
        ReturnValues: 'ALL_NEW',
      }),
    )
    assert.equal(edited.Attributes!.edited, true)
    assert.equal(edited.Attributes!.reactions[1].userIds.length, 3)
    assert.equal((await reverse('MSG#01JGSMSG0007'))[0].content, 'edited')
    await documents.send(new DeleteCommand({ TableName: table, Key }))
    assert.deepEqual(await reverse('MSG#01JGSMSG0007'), [])
    await documents.send(new PutCommand({ TableName: table, Item: messageItem(7) }))
  })

  test('11 get invite by code, and count its uses', async () => {
    const [found] = await reverse('INVITE#abc123xyz')
    assert.equal(found.serverId, server)
    for (const uses of [1, 2]) {
      const changed = await documents.send(
        new UpdateCommand({
          TableName: table,
          Key: { pk: found.pk, sk: found.sk },
          UpdateExpression: 'SET uses = uses + :one',
          ExpressionAttributeValues: { ':one': 1 },
          ReturnValues: 'UPDATED_NEW',
        }),
      )
      assert.deepEqual(changed.Attributes, { uses })
    }
  })

  test("12 get server's invites", async () => {
    const found = await primary(`SERVER#${server}`, 'INVITE#')
    assert.deepEqual(found.map((item) => item.inviteCode), ['abc123xyz'])
  })

  test('13 get connections in channel', async () => {
    const found = await primary(`CHANNEL#${channel}`, 'CONN#')
    assert.deepEqual(found, [connection])
  })

  test('14 get connection by id, and clean up on disconnect', async () => {
    const [found] = await reverse('CONN#xyz789conn')
    const removed = await documents.send(
      new DeleteCommand({ TableName: table, Key: { pk: found.pk, sk: found.sk }, ReturnValues: 'ALL_OLD' }),
    )
    assert.deepEqual(removed.Attributes, connection)
    assert.deepEqual(await reverse('CONN#xyz789conn'), [])
    await documents.send(new PutCommand({ TableName: table, Item: connection }))
  })

  test("15 get user's last read for channel, and move it", async () => {
    const Key = { pk: `USER#${user}`, sk: `LASTREAD#CHANNEL#${channel}` }
    assert.deepEqual((await documents.send(new GetCommand({ TableName: table, Key }))).Item, lastRead)
    await documents.send(new PutCommand({ TableName: table, Item: { ...lastRead, lastReadTimestamp: firstMessage + 5000 } }))
    const readers = await query('gsi1pk = :pk AND begins_with(gsi1sk, :sk)', { ':pk': `CHANNEL#${channel}`, ':sk': 'USER#' }, { IndexName: 'gsi1' })
    assert.deepEqual(readers.map((item) => item.lastReadTimestamp), [firstMessage + 5000])
  })

  test('16 check server membership', async () => {
    const Key = (id: string) => ({ pk: `USER#${user}`, sk: `SERVER#${id}` })
    assert.ok((await documents.send(new GetCommand({ TableName: table, Key: Key(server) }))).Item)
    assert.equal((await documents.send(new GetCommand({ TableName: table, Key: Key('elsewhere') }))).Item, undefined)
  })

  test("example: user's servers with channel counts", async () => {
    const memberships = await primary(`USER#${user}`, 'SERVER#')
    const counts = await Promise.all(
      memberships.map((membership) =>
        documents.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
            ExpressionAttributeValues: { ':pk': `SERVER#${membership.serverId}`, ':sk': 'CHANNEL#' },
            Select: 'COUNT',
          }),
        ),
      ),
    )
    assert.deepEqual(counts.map((answer) => answer.Count), [0, 2])
    assert.ok(counts.every((answer) => answer.Items === undefined))
  })

  test('example: check if user can access channel', async () => {
    const [found] = await reverse(`CHANNEL#${channel}`)
    const membership = await documents.send(
      new GetCommand({ TableName: table, Key: { pk: `USER#${user}`, sk: `SERVER#${found.serverId}` } }),
    )
    assert.equal(!!membership.Item, true)
  })

  test('the pattern that cannot work is refused: begins_with on an index partition key', async () => {
    const asked = query('begins_with(gsi1pk, :pk)', { ':pk': 'SERVER#' }, { IndexName: 'gsi1' })
    await assert.rejects(asked, { name: 'ValidationException', message: /Query key condition not supported/ })
  })

  test("the pattern that finds nothing: a user's connections stand under CONN# in the index, not under USER#", async () => {
    assert.deepEqual(await reverse(`USER#${user}`), [])
  })

  test('registration claims the email once', async () => {
    const register = (userId: string) =>
      documents.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: table, Item: { ...userItem(userId), gsi1pk: 'EMAIL#new@example.com' } } },
            {
              Put: {
                TableName: table,
                Item: { pk: 'EMAIL#new@example.com', sk: 'CLAIM', userId },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
          ],
        }),
      )
    await register('01JGSNEW1')
    await assert.rejects(register('01JGSNEW2'), (error: any) => {
      assert.equal(error.name, 'TransactionCanceledException')
      assert.deepEqual(error.CancellationReasons.map((reason: any) => reason.Code), ['None', 'ConditionalCheckFailed'])
      return true
    })
  })

  test('the stream carries what WebSocket clients need', async () => {
    const arn = await streamArn(table)
    const message = messageItem(500)
    await documents.send(new PutCommand({ TableName: table, Item: message }))
    const records = await poll(
      () => readStream(arn),
      (all) => all.some((record) => record.dynamodb!.Keys!.sk.S === message.sk),
    )
    const record = records.find((one) => one.dynamodb!.Keys!.sk.S === message.sk)!
    assert.equal(record.eventName, 'INSERT')
    assert.equal(record.dynamodb!.NewImage!.content.S, message.content)
  })

  test('stale connections are removed by their ttl', async () => {
    await client.send(
      new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } }),
    )
    const stale = { ...connection, sk: 'CONN#stale', gsi1pk: 'CONN#stale', ttl: Math.floor(Date.now() / 1000) - 10 }
    await documents.send(new PutCommand({ TableName: table, Item: stale }))
    const left = await poll(() => primary(`CHANNEL#${channel}`, 'CONN#'), (items) => items.length === 1)
    assert.deepEqual(left.map((item) => item.connectionId), ['xyz789conn'])
    assert.deepEqual(await reverse('CONN#stale'), [])
  })
})
