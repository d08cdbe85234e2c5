/**
 * The example code of the discord design document, against the served system.
 *
 * The four examples are functions with the document's own requests. Adapted are the table's name, the ids (arguments here), and the client, which the document
 * does not show: `DynamoDBDocument` has the methods `query` and `get` that it calls. The system has written all other data through its model API, and it reads
 * what the examples write.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb'
import assert from 'node:assert/strict'
import { ulid } from 'ulid'

const TABLE = 'discord-clone-local-DiscordTable'
const url = process.env.AWS_ENDPOINT_URL_DYNAMODB

const dynamoDb = DynamoDBDocument.from(new DynamoDBClient({}))

// "ID Generation": the id of a new user.
function newUserId() {
  const userId = ulid() // "01JGSXXX123ABC..."
  return userId
}

// "Get User's Servers with Channel Counts"
async function serversWithChannelCounts(user: string) {
  // 1. Query user's server memberships
  const memberships = await dynamoDb.query({
    TableName: TABLE,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: {
      ':pk': `USER#${user}`,
      ':sk': 'SERVER#',
    },
  })

  // 2. For each server, get channel count
  const serverIds = memberships.Items.map((m) => m.serverId)
  const channelCounts = await Promise.all(
    serverIds.map((serverId) =>
      dynamoDb.query({
        TableName: TABLE,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
        ExpressionAttributeValues: {
          ':pk': `SERVER#${serverId}`,
          ':sk': 'CHANNEL#',
        },
        Select: 'COUNT',
      })
    )
  )
  return { serverIds, channelCounts }
}

// "Get Messages with Pagination (Newest First)"
async function messagesNewestFirst(channelId: string, lastEvaluatedKey?: Record<string, any>) {
  const messages = await dynamoDb.query({
    TableName: TABLE,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: {
      ':pk': `CHANNEL#${channelId}`,
      ':sk': 'MSG#',
    },
    ScanIndexForward: false, // Descending order (newest first)
    Limit: 50,
    ExclusiveStartKey: lastEvaluatedKey, // For pagination
  })
  return messages
}

// "Check if User Can Access Channel". The index also holds the read marks of the channel under this key, so the answer contains more than the channel.
// The first item is the channel, because `META` sorts before `USER#`.
async function canAccessChannel(user: string, channelId: string) {
  // 1. Get channel to find server ID
  const channel = await dynamoDb.query({
    IndexName: 'gsi1',
    TableName: TABLE,
    KeyConditionExpression: 'gsi1pk = :pk',
    ExpressionAttributeValues: {
      ':pk': `CHANNEL#${channelId}`,
    },
  })

  // 2. Check if user is member of that server
  const membership = await dynamoDb.get({
    TableName: TABLE,
    Key: {
      pk: `USER#${user}`,
      sk: `SERVER#${channel.Items[0].serverId}`,
    },
  })

  const hasAccess = !!membership.Item
  return { hasAccess, found: channel.Items.length }
}

/** Calls a pattern of the system. */
async function call(userId: string, pattern: string, values: Record<string, any>, method = 'POST') {
  const query = method === 'GET' ? `?${new URLSearchParams(values)}` : ''
  const response = await fetch(`${url}/v1/discord/${pattern}${query}`, {
    method,
    headers: { 'X-Keyform-Caller': `userId=${userId}`, 'Content-Type': 'application/json' },
    body: method === 'GET' ? undefined : JSON.stringify(values),
  })
  const text = await response.text()
  assert.ok(response.ok, `${pattern}: ${response.status} ${text}`)
  return text ? JSON.parse(text) : undefined
}

/**
 * The document's sample user without two of its attributes: the system stores the password hash in a separate item, because the index would copy it; and a
 * missing picture is an absent attribute, where the document stores NULL.
 */
async function putUser(userId: string, username: string) {
  const now = new Date().toISOString()
  const email = `${userId.toLowerCase()}@example.com`
  await dynamoDb.put({
    TableName: TABLE,
    Item: {
      pk: `USER#${userId}`,
      sk: 'PROFILE',
      gsi1pk: `EMAIL#${email}`,
      gsi1sk: `USER#${userId}`,
      entityType: 'User',
      userId,
      email,
      username,
      createdAt: now,
      updatedAt: now,
    },
  })
}

async function main() {
  const [ada, grace] = [newUserId(), newUserId()]
  // The first call creates the tables.
  await call(ada, 'serversOfUser', { userId: ada }, 'GET')
  await putUser(ada, 'ada')
  await putUser(grace, 'grace')
  assert.equal((await call(ada, 'profile', { userId: grace }, 'GET')).username, 'grace', 'the system reads what the example wrote')

  const engines = await call(ada, 'createServer', { name: 'Engines' })
  const looms = await call(ada, 'createServer', { name: 'Looms' })
  await call(ada, 'createChannel', { serverId: engines.serverId, name: 'steam' })
  const { items: channels } = await call(ada, 'channelsOfServer', { serverId: engines.serverId }, 'GET')
  const channelId = channels[0].channelId
  const posted: string[] = []
  for (let number = 0; number < 55; number++) {
    const message = await call(ada, 'postMessage', { channelId, content: `message ${number}` })
    posted.push(message.messageId)
  }

  const { serverIds, channelCounts } = await serversWithChannelCounts(ada)
  const counts = new Map(serverIds.map((serverId, place) => [serverId, channelCounts[place].Count]))
  assert.deepEqual([counts.size, counts.get(engines.serverId), counts.get(looms.serverId)], [2, 2, 1])

  const first = await messagesNewestFirst(channelId)
  const second = await messagesNewestFirst(channelId, first.LastEvaluatedKey)
  assert.deepEqual([first.Items.length, second.Items.length, second.LastEvaluatedKey], [50, 5, undefined])
  const read = [...first.Items, ...second.Items].map((message) => message.messageId)
  assert.deepEqual(read, posted.toReversed(), 'each message once, the newest first')

  const last = first.Items[0]
  await call(ada, 'markRead', { channelId, messageId: last.messageId, at: Date.parse(last.createdAt) })
  assert.deepEqual(await canAccessChannel(ada, channelId), { hasAccess: true, found: 2 })
  assert.equal((await canAccessChannel(grace, channelId)).hasAccess, false)
  const { inviteCode } = await call(ada, 'createInvite', { serverId: engines.serverId })
  await call(grace, 'joinByInvite', { inviteCode })
  assert.equal((await canAccessChannel(grace, channelId)).hasAccess, true)
  await call(grace, 'leaveServer', { serverId: engines.serverId })
  assert.equal((await canAccessChannel(grace, channelId)).hasAccess, false)
  console.log('discord: the four examples agree with the system')
}

await main()
