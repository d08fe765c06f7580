// What public clients of the platform, its components and its object store expect, found by running them. Titles carry the number
// of the finding in the specification's list of clients (spec platform 10).

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
