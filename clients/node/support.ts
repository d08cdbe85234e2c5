/**
 * Shared code of the suites: clients that find the server by AWS_ENDPOINT_URL_DYNAMODB, as for any SDK user,
 * tables that are removed after the test, and bounded polling.
 */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
  type CreateTableCommandInput,
} from '@aws-sdk/client-dynamodb'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record,
  type Shard,
} from '@aws-sdk/client-dynamodb-streams'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'

export const client = new DynamoDBClient({})
export const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
// The same endpoint serves DynamoDB Streams, unless the environment names another.
export const streams = new DynamoDBStreamsClient(
  process.env.AWS_ENDPOINT_URL_DYNAMODB_STREAMS ? {} : { endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB },
)

let count = 0

export type TableOptions = Partial<CreateTableCommandInput>

/** Creates a table with a string key `pk` (and `sk` unless another schema is given) and waits until it is active. */
export async function makeTable(test: Pick<TestContext, 'after'>, options: TableOptions = {}): Promise<string> {
  const TableName = options.TableName ?? `node-${process.pid}-${count++}`
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      ...options,
    }),
  )
  test.after(() => removeTable(TableName))
  await waitForTable(TableName)
  return TableName
}

export async function waitForTable(TableName: string): Promise<void> {
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName })
}

async function removeTable(TableName: string): Promise<void> {
  try {
    await client.send(new DeleteTableCommand({ TableName }))
  } catch (error) {
    if ((error as Error).name !== 'ResourceNotFoundException') throw error
  }
}

/** Repeats the request until the answer satisfies the condition or the time is up; returns the last answer. */
export async function poll<T>(ask: () => Promise<T>, satisfied: (answer: T) => boolean, seconds = 20): Promise<T> {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const answer = await ask()
    if (satisfied(answer) || Date.now() > end) return answer
    await setTimeout(50)
  }
}

/** Returns the error of an action that must fail. */
export async function refusal(action: Promise<unknown>): Promise<Error & Record<string, any>> {
  try {
    await action
  } catch (error) {
    return error as Error & Record<string, any>
  }
  throw new Error('the action was not refused')
}

export async function streamArn(TableName: string): Promise<string> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  return Table!.LatestStreamArn!
}

/** Returns all records of a stream, shard by shard, from the oldest. */
export async function readStream(StreamArn: string): Promise<_Record[]> {
  const records: _Record[] = []
  for (const shard of await allShards(StreamArn)) records.push(...(await readShard(StreamArn, shard.ShardId!)))
  return records
}

async function allShards(StreamArn: string): Promise<Shard[]> {
  const shards: Shard[] = []
  let ExclusiveStartShardId: string | undefined
  do {
    const page = await streams.send(new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId }))
    shards.push(...page.StreamDescription!.Shards!)
    ExclusiveStartShardId = page.StreamDescription!.LastEvaluatedShardId
  } while (ExclusiveStartShardId)
  return shards
}

async function readShard(StreamArn: string, ShardId: string): Promise<_Record[]> {
  const start = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' })
  let iterator = (await streams.send(start)).ShardIterator
  const records: _Record[] = []
  while (iterator) {
    const page = await streams.send(new GetRecordsCommand({ ShardIterator: iterator }))
    records.push(...page.Records!)
    if (page.Records!.length === 0) break
    iterator = page.NextShardIterator
  }
  return records
}
